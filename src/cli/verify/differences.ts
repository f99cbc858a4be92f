/** What two runs of one program differ in, as unified diffs. */
import { createTwoFilesPatch } from 'diff';
import { normalForm } from '../../index.ts';
import type { Observed } from './emulated-run.ts';

export interface SectionDiff {
  readonly section: 'trace' | 'stdout' | 'stderr' | 'end' | 'hits';
  readonly diff: string;
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const sections = ({ trace, stdout, stderr, end, hits }: Observed) =>
  ({
    trace: text(trace.map(normalForm)),
    stdout,
    stderr,
    end: text([end]),
    hits: text(hits),
  }) as const;

/** Beyond so many differing lines only the first one is told. */
const MAX_EDITS = 5000;

const firstDifference = (expected: string, got: string): string => {
  const theirs = expected.split('\n');
  const at = got.split('\n').findIndex((line, i) => line !== theirs[i]);
  return `more than ${MAX_EDITS} lines differ, from line ${at + 1} on\n`;
};

const unified = (name: string, expected: string, got: string): string => {
  const names = [`kernel/${name}`, `trapline/${name}`] as const;
  const patch = createTwoFilesPatch(...names, expected, got, undefined, undefined, {
    maxEditLength: MAX_EDITS,
  });
  return patch === undefined ? firstDifference(expected, got) : patch.replace(/^=+\n/, '');
};

/** `-` lines are the kernel's, `+` lines ours. */
export const differencesOf = (kernel: Observed, ours: Observed): readonly SectionDiff[] => {
  const expected = sections(kernel);
  const got = sections(ours);
  return (Object.keys(expected) as SectionDiff['section'][])
    .filter((section) => expected[section] !== got[section])
    .map((section) => ({ section, diff: unified(section, expected[section], got[section]) }));
};
