/** Executes what Linux 6.18.44 executed, plain and probed, and compares registers, memory, signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProfile } from '../../src/uprobes/index.ts';
import { conform } from '../helpers/conform/compare.ts';
import { parseExecGolden } from '../helpers/conform/golden.ts';
import { engines } from '../helpers/engines.ts';

const table = parseExecGolden(
  readFileSync(join(import.meta.dirname, '../goldens/insn-exec-6.18.44.txt'), 'utf8'),
);
const profile = findProfile('k6.18')!;

/**
 * A case whose plain run an engine gets wrong says nothing about probes; the engine's own suite
 * covers it. At least this many cases must be left.
 */
const COMPARABLE = 200;

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it('a probed run equals the kernel’s wherever the plain run does', async (ctx) => {
      if (engine.missing !== null) return ctx.skip(engine.missing);
      const factory = await engine.load();
      const plain = conform(table, { factory, profile, variants: ['plain'] });
      const unusable = new Set([...plain.differences, ...plain.notRun].map(({ name }) => name));
      const cases = table.cases.filter(({ name }) => !unusable.has(name));
      expect(cases.length).toBeGreaterThan(COMPARABLE);
      const probed = conform(
        { ...table, cases },
        { factory, profile, variants: ['probed', 'probed_x3'] },
      );
      expect(probed.notRun).toEqual([]);
      expect(probed.differences).toEqual([]);
      expect(probed.agreed).toBe(
        2 * cases.filter(({ errno, probed: run }) => errno === 'ok' && run !== null).length,
      );
    });
  });
