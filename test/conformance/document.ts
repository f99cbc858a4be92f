/** `docs/conformance.md`, made from a run of the rows. */
import { PROFILE_NAMES, type ProfileName } from '../../src/uprobes/index.ts';
import { isRow, type Row, type Rows } from './row.ts';

/** What one row came to under one profile. */
export interface Outcome {
  readonly id: string;
  readonly profile: ProfileName;
  readonly assertions: number;
  readonly passed: boolean;
}

const HEAD = `# Conformance

Made by \`npm run conformance\` from a run of \`test/conformance\`; do not edit. Each row is a case of a list of what uprobes do on Linux: C1-C46 and
C50-C64 follow the kernel's self-tests, C70 and up are derived from its rules. "Assertions" counts those of all profiles on one engine; every engine
that is installed runs every row.
`;

/** `all`, a range to the newest profile, or the names. */
const profilesText = (names: readonly ProfileName[]): string => {
  if (names.length === PROFILE_NAMES.length) return 'all';
  const [first] = names;
  const from = first === undefined ? 0 : PROFILE_NAMES.indexOf(first);
  const isRange = names.length > 1 && names.length === PROFILE_NAMES.length - from;
  return isRange ? `${first} and later` : names.join(', ');
};

const resultText = (outcomes: readonly Outcome[]): string => {
  const failed = outcomes.filter(({ passed }) => !passed).map(({ profile }) => profile);
  return failed.length === 0 ? 'pass' : `**fails** (${failed.join(', ')})`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

const lineOf = (row: Row, outcomes: readonly Outcome[]): string => {
  const mine = outcomes.filter(({ id }) => id === row.id);
  const assertions = mine.reduce((sum, outcome) => sum + outcome.assertions, 0);
  const profiles = profilesText(mine.map(({ profile }) => profile));
  return `| ${row.id} | ${cell(row.what)} | ${profiles} | ${assertions} | ${cell(row.from)} | ${resultText(mine)} |`;
};

export const renderDocument = (rows: Rows, outcomes: readonly Outcome[]): string => {
  const run = rows.filter(isRow).map((row) => lineOf(row, outcomes));
  const later = rows.flatMap((row) =>
    isRow(row) ? [] : [`| ${row.id} | ${cell(row.what)} | ${cell(row.later)} |`],
  );
  return [
    HEAD,
    '| id | what | profiles | assertions | expected values from | result |',
    '|---|---|---|---|---|---|',
    ...run,
    '',
    '## Later',
    '',
    '| id | what | waits for |',
    '|---|---|---|',
    ...later,
    '',
  ].join('\n');
};
