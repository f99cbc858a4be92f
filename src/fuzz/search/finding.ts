/** A finding: a case made small, with the reason. */

import { fromHex } from '../../base/bytes.ts';
import type { ProfileName } from '../../uprobes/index.ts';
import { PROFILE_NAMES } from '../../uprobes/index.ts';
import type { FuzzCase } from '../case.ts';
import { type Cause, type Diagnosis, diagnose } from '../diagnose/causes.ts';
import { contextsOf } from '../diagnose/context.ts';
import { listingOf } from '../diagnose/listing.ts';
import { shrink } from '../diagnose/shrink.ts';
import { TEXT } from '../guest/layout.ts';
import type { Trial } from '../run/against.ts';
import type { Different, Verdict } from '../run/verdict.ts';

export interface Finding {
  readonly cause: Cause;
  readonly title: string;
  readonly case: FuzzCase;
  /** The function as text. */
  readonly instructions: readonly string[];
  /** Kernels on which the case differs. */
  readonly profiles: readonly ProfileName[];
  /** What differed first. */
  readonly difference: string;
}

/** What kind of thing differs, so that shrinking does not go over to another finding. */
const shape = (verdict: Verdict): string => {
  if (verdict.kind === 'crash') return verdict.message.replace(/0x[0-9a-f]+|\(.*\)/g, '');
  if (verdict.kind !== 'different') return verdict.kind;
  const names = verdict.differences.map(({ what }) =>
    what
      .replace(/ 0x.*/, '')
      .replace(/^hit \d+/, 'hit')
      .replace(/\d+$/, ''),
  );
  const kinds = ['end', 'signal', 'hit', 'file', 'flags', 'memory'];
  return kinds.find((kind) => names.some((name) => name.startsWith(kind))) ?? 'register';
};

/** The bytes at the site stay what they are while a case is made smaller. */
const siteOf = ({ code, probes }: FuzzCase): string => {
  const site = probes[0]?.site ?? 0;
  return code.slice(2 * site, 2 * site + 4);
};

/** A key under which findings that are probably the same meet before they are made small. */
export const likeness = (test: FuzzCase, verdict: Verdict): string =>
  `${siteOf(test)} ${test.profile} ${shape(verdict)}`;

const textOf = ({ code, at }: FuzzCase): string[] =>
  listingOf(fromHex(code) ?? new Uint8Array(), TEXT.start + BigInt(at)).map(({ text }) => text);

const firstOf = ({ differences, when }: Different): string => {
  const [first] = differences;
  return `${first?.what}: ${first?.got} instead of ${first?.expected} (${when})`;
};

/** Findings with one key are one finding. */
export const keyOf = ({ cause, title }: Pick<Finding, 'cause' | 'title'>): string =>
  `${cause}: ${title}`;

/** A case made small and explained, not yet tried on a fresh machine. */
export interface Reduced {
  readonly cause: Cause;
  readonly title: string;
  readonly case: FuzzCase;
  readonly shape: string;
}

/** Instructions. */
const READABLE = 6;

/** Null when it does not happen again. */
export const reduced = (
  runner: Trial,
  test: FuzzCase,
  verdict: Verdict,
  reasonFor: (runner: Trial, small: FuzzCase) => Diagnosis | null = reasonOf,
): Reduced | null => {
  const wanted = shape(verdict);
  const site = siteOf(test);
  if (shape(runner.run(test)) !== wanted) return null;
  const keepsSite = test.probes.length === 1;
  const like = (smaller: FuzzCase, isWanted: (verdict: Verdict) => boolean): boolean =>
    (!keepsSite || siteOf(smaller) === site) && isWanted(runner.run(smaller));
  let small = shrink(test, (smaller) => like(smaller, (found) => shape(found) === wanted));
  // Better another difference than one that nobody can read.
  if (textOf(small).length > READABLE)
    small = shrink(small, (smaller) => like(smaller, ({ kind }) => kind === verdict.kind));
  const reason = reasonFor(runner, small);
  return reason === null ? null : { ...reason, case: small, shape: shape(runner.run(small)) };
};

const reasonOf = (runner: Trial, small: FuzzCase): Diagnosis | null => {
  const verdict = runner.run(small);
  if (verdict.kind === 'crash')
    return { cause: 'other', title: `the engine breaks down: ${verdict.message}` };
  if (verdict.kind !== 'different') return null;
  const [first, ...others] = contextsOf(small, verdict, (variant) => runner.run(variant));
  return first === undefined
    ? { cause: 'other', title: 'bytes that do not decode at the site' }
    : diagnose([first, ...others]);
};

/** Two kernels or engines: what the first difference is, not why. */
export const partingOf =
  (mine: string, theirs: string) =>
  (runner: Trial, small: FuzzCase): Diagnosis | null => {
    const verdict = runner.run(small);
    if (verdict.kind === 'crash') return { cause: 'other', title: verdict.message };
    if (verdict.kind !== 'different') return null;
    const site = small.probes[0]?.site ?? 0;
    const { text = '' } =
      listingOf((fromHex(small.code) ?? new Uint8Array()).slice(site), 0n)[0] ?? {};
    const what = verdict.differences[0]?.what.replace(/ 0x.*/, '');
    const mnemonic = text.split(' ')[0];
    return {
      cause: 'other',
      title: `${mine} and ${theirs} part at \`${mnemonic}\`: ${what} differs`,
    };
  };

const differsUnder = (runner: Trial, small: FuzzCase): ProfileName[] =>
  PROFILE_NAMES.filter((profile) => {
    const { kind } = runner.run({ ...small, profile });
    return kind === 'different' || kind === 'crash';
  });

/** The finding, if a machine that has run nothing before finds it too. */
export const confirm = (runner: Trial, small: Reduced): Finding | null => {
  const verdict = runner.runFresh(small.case);
  const isFinding = verdict.kind === 'different' || verdict.kind === 'crash';
  if (!isFinding || shape(verdict) !== small.shape) return null;
  return {
    cause: small.cause,
    title: small.title,
    case: small.case,
    instructions: textOf(small.case),
    profiles: differsUnder(runner, small.case),
    difference: verdict.kind === 'different' ? firstOf(verdict) : small.title,
  };
};
