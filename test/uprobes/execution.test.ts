/** Executes what Linux 6.18.44 executed, plain and probed, and compares registers, memory, signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseResult, conform, readTable, Tally } from '../../src/conform/index.ts';
import { findProfile } from '../../src/uprobes/index.ts';
import { execTableOf } from '../helpers/conform/golden.ts';
import { engines } from '../helpers/engines.ts';
import { execCases } from './exec-cases.ts';

const KERNEL = '6.18.44';
/** The 285 that were handed to us, and a third of `exec-cases.ts`. */
const GOLDENS = {
  'insn-exec': { cases: 285, ran: 220 },
  'insn-more': { cases: 749, ran: 660 },
} as const;
type Golden = keyof typeof GOLDENS;

/** Engines whose instructions are still being written; `trapline conform` measures them meanwhile. */
const UNFINISHED: Readonly<Record<string, string>> = {
  core: 'core is unfinished: 66 before a branch, prefixes that an instruction has no meaning for',
};

const profile = findProfile('k6.18')!;
const textOf = (name: Golden): string =>
  readFileSync(join(import.meta.dirname, `../goldens/${name}-${KERNEL}.txt`), 'utf8');

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it.for(Object.keys(GOLDENS) as Golden[])(
      'every run of %s that it can make equals the kernel’s',
      async (name, ctx) => {
        const note = engine.missing ?? UNFINISHED[engine.name] ?? null;
        if (note !== null) return ctx.skip(note);
        const table = readTable(JSON.stringify(execTableOf(textOf(name))), name);
        const results: CaseResult[] = [];
        for await (const result of conform(table, profile, engine.load)) results.push(result);
        expect(results.flatMap(({ differences }) => differences)).toEqual([]);
        const tally = new Tally();
        for (const result of results) tally.add(result);
        expect(tally.ran + tally.notRun).toBe(GOLDENS[name].cases);
        expect(tally.ran).toBeGreaterThan(GOLDENS[name].ran);
      },
    );
  });

it('the golden holds the cases of exec-cases.ts', () => {
  const recorded = execTableOf(textOf('insn-more')).cases.map(({ bytes }) => bytes);
  expect(recorded).toEqual(execCases().filter((bytes) => bytes !== ''));
});
