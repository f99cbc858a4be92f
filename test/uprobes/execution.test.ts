/** Executes what Linux 6.18.44 executed, plain and probed, and compares registers, memory, signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseResult, conform, readTable, Tally } from '../../src/conform/index.ts';
import { findProfile } from '../../src/uprobes/index.ts';
import { execTableOf } from '../helpers/conform/golden.ts';
import { engines } from '../helpers/engines.ts';

const golden = readFileSync(join(import.meta.dirname, '../goldens/insn-exec-6.18.44.txt'), 'utf8');
const table = readTable(JSON.stringify(execTableOf(golden)), 'insn-exec-6.18.44');
const profile = findProfile('k6.18')!;

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it('every run that it can make equals the kernel’s', async (ctx) => {
      if (engine.missing !== null) return ctx.skip(engine.missing);
      const results: CaseResult[] = [];
      for await (const result of conform(table, profile, engine.load)) results.push(result);
      expect(results.flatMap(({ differences }) => differences)).toEqual([]);
      const tally = new Tally();
      for (const result of results) tally.add(result);
      expect(tally.ran + tally.notRun).toBe(285);
      expect(tally.ran).toBeGreaterThan(220);
    });
  });
