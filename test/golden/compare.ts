/** What a run on an engine and a golden must have alike. */
import { normalForm } from '../../src/index.ts';
import { isBuilt, isRecordedProgram } from '../helpers/fixtures.ts';
import { escaped, type Golden } from './golden-file.ts';
import { normalRegisters, withoutAddresses } from './normal-form.ts';
import type { FixtureRun } from './run.ts';
import { unifiedDiff } from './unified-diff.ts';

const lines = (bytes: Uint8Array): readonly string[] => escaped(bytes).split('\n');

/** What both sides must have alike, by name of the golden's section. */
const sections = (side: FixtureRun | Golden, golden: Golden): Record<string, readonly string[]> => {
  const trace = side.trace.map(normalForm);
  const comparable = isRecordedProgram(golden) ? trace : trace.map(withoutAddresses);
  const registers = isBuilt(golden.program)
    ? []
    : side.registers.map((line) => normalRegisters(line, golden.undefinedFlags));
  return {
    end: [side.end],
    stderr: lines(side.stderr),
    stdout: lines(side.stdout),
    trace: comparable,
    registers,
    profile: side.profile,
  };
};

/** One text with every section that differs; empty = none does. */
export const differences = (golden: Golden, run: FixtureRun): string => {
  const expected = sections(golden, golden);
  const actual = sections(run, golden);
  return Object.keys(expected)
    .map((name) => [name, unifiedDiff(expected[name]!, actual[name]!)] as const)
    .filter(([, diff]) => diff !== '')
    .map(([name, diff]) => `${name} differs from ${golden.kernel} ${diff}`)
    .join('\n\n');
};
