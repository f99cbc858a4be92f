import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { escapeBody, placed, readTraceCases } from '../consumers/trace-golden.ts';
import { missing } from '../helpers/requirements.ts';
import { PROGRAM, temporaryDirectory, trapline } from './cli.ts';

const CASES = readTraceCases();

/** All definitions of the golden in one run; the bodies of the trace lines in the golden's form. */
const traced = (engine: string): string[] => {
  const dir = temporaryDirectory();
  const file = (name: string): string => join(dir, name);
  copyFileSync(PROGRAM, file('fetch-args'));
  writeFileSync(file('probes'), CASES.map(({ definition }) => placed(definition, '@')).join('\n'));
  const args = ['--kernel', 'k6.18', '--engine', engine, '--probes', file('probes')];
  const outcome = trapline(['run', ...args, '-o', file('trace'), file('fetch-args')]);
  expect(outcome).toEqual({ status: 0, stdout: '', stderr: '' });
  return readFileSync(file('trace'), 'latin1')
    .split(/^ +fetch-args-\d+ +\[\d+\] DBZff +\d+\.\d{6}: /m)
    .slice(1)
    .map((entry) => escapeBody(Buffer.from(entry.replace(/\n$/, ''), 'latin1')));
};

/** Lines of one event in their order; of different events at one site the newest comes first. */
const byEvent = (lines: readonly string[]): Record<string, string[]> => {
  const events: Record<string, string[]> = {};
  for (const line of lines) {
    const event = line.split(':')[0]!;
    events[event] = [...(events[event] ?? []), line];
  }
  return events;
};

for (const engine of ['unicorn', 'unicorn-native'])
  describe(`engine ${engine}`, () => {
    it('prints every fetch argument as Linux 6.18.44 did', (ctx) => {
      const note = engine === 'unicorn-native' ? missing('libunicorn2') : null;
      if (note !== null) return ctx.skip(note);
      expect(byEvent(traced(engine))).toEqual(byEvent(CASES.flatMap((one) => one.lines)));
    });
  });
