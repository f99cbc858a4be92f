import Table from 'cli-table3';
import {
  DEFAULT_PROFILE,
  PROFILE_ALIASES,
  PROFILES,
  type Profile,
  requireProfile,
} from '../../index.ts';
import { Status, UsageError } from '../errors.ts';
import { type Colors, colorsFor, print, printJson } from '../output.ts';
import type { CommonOptions } from '../program/common.ts';

export interface ProfilesOptions extends CommonOptions {
  readonly diff?: readonly string[];
}

type Switch = Exclude<keyof Profile, 'name' | 'summary'>;

const SWITCHES = Object.keys(PROFILES[0]!).filter(
  (key): key is Switch => key !== 'name' && key !== 'summary',
);

/** A switch's setting in words. */
const setting = (profile: Profile, name: Switch): string => {
  const value = profile[name];
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === null) return '-';
  return typeof value === 'string' ? value : value.join(' ') || 'none';
};

/** cli-table3 colours by itself unless told not to. */
const tableOf = (head: readonly string[]): Table.Table =>
  new Table({ head: [...head], style: { head: [], border: [], compact: true } });

const aliasOf = ({ name }: Profile): string =>
  Object.entries(PROFILE_ALIASES)
    .filter(([, target]) => target === name)
    .map(([alias]) => alias)
    .join(' ');

/** Changed settings stand out from those of the release before. */
const rowOf = (name: Switch, shown: readonly Profile[], colors: Colors): string[] => [
  name,
  ...shown.map((profile, index) => {
    const text = setting(profile, name);
    const before = shown[index - 1];
    return before === undefined || setting(before, name) === text ? text : colors.bold(text);
  }),
];

const overview = (shown: readonly Profile[], colors: Colors): string[] => {
  const table = tableOf(['', ...shown.map(({ name }) => colors.cyan(name))]);
  table.push(['alias', ...shown.map(aliasOf)]);
  for (const name of SWITCHES) table.push(rowOf(name, shown, colors));
  const summaries = shown.map((profile) => {
    const chosen = profile.name === DEFAULT_PROFILE ? ' (default)' : '';
    return `${colors.cyan(profile.name.padEnd(7))}${profile.summary}${chosen}`;
  });
  return [...summaries, '', table.toString()];
};

interface Difference {
  readonly switch: Switch;
  readonly a: Profile[Switch];
  readonly b: Profile[Switch];
}

const differences = (a: Profile, b: Profile): Difference[] =>
  SWITCHES.filter((name) => setting(a, name) !== setting(b, name)).map((name) => ({
    switch: name,
    a: a[name],
    b: b[name],
  }));

const pairOf = (names: readonly string[]): [Profile, Profile] => {
  const [a, b] = names;
  if (a === undefined || b === undefined || names.length !== 2)
    throw new UsageError('--diff takes two profiles, for instance: --diff k6.18 k7.3');
  return [requireProfile(a), requireProfile(b)];
};

const diffText = (a: Profile, b: Profile, colors: Colors): string => {
  const found = differences(a, b);
  if (found.length === 0) return `${a.name} and ${b.name} do not differ`;
  const table = tableOf(['', colors.cyan(a.name), colors.cyan(b.name)]);
  for (const { switch: name } of found) table.push([name, setting(a, name), setting(b, name)]);
  return table.toString();
};

const showDiff = (names: readonly string[], options: ProfilesOptions, colors: Colors): void => {
  const [a, b] = pairOf(names);
  if (!options.json) print([diffText(a, b, colors)]);
  else
    printJson({
      v: 1,
      type: 'profile-diff',
      a: a.name,
      b: b.name,
      differences: differences(a, b),
    });
};

/** `trapline profiles`. */
export const profiles = async (options: ProfilesOptions): Promise<number> => {
  const colors = colorsFor(options.color);
  const shown = options.kernel === undefined ? PROFILES : [requireProfile(options.kernel)];
  if (options.diff !== undefined) showDiff(options.diff, options, colors);
  else if (options.json)
    printJson({
      v: 1,
      type: 'profiles',
      default: DEFAULT_PROFILE,
      aliases: PROFILE_ALIASES,
      profiles: shown,
    });
  else print(overview(shown, colors));
  return Status.ok;
};
