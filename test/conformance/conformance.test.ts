/** Runs the conformance list on every engine and profile, and compares `docs/conformance.md` with what came out. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { PROFILES } from '../../src/uprobes/index.ts';
import { cpuEngines as engines } from '../helpers/engines.ts';
import { allRows } from './all-rows.ts';
import { type Outcome, renderDocument } from './document.ts';
import { isRow, runRow, Trial } from './row.ts';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'conformance.md');

const rows = await allRows();

/** By engine. */
const outcomes = new Map<string, Outcome[]>(engines.map(({ name }) => [name, []]));

describe('the conformance list', () => {
  it('has each id once', () => {
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory | undefined;
    beforeEach((ctx) => {
      if (engine.missing !== null) ctx.skip(engine.missing);
    });

    for (const row of rows.filter(isRow)) {
      const profiles = PROFILES.filter((profile) => row.applies?.(profile) ?? true);
      for (const profile of profiles) {
        it(`${row.id} ${profile.name}: ${row.what}`, async () => {
          factory ??= await engine.load();
          let passed = false;
          try {
            await runRow(row, new Trial(factory, profile));
            passed = true;
          } finally {
            const { assertionCalls } = expect.getState();
            outcomes
              .get(engine.name)
              ?.push({ id: row.id, profile: profile.name, assertions: assertionCalls, passed });
          }
        });
      }
    }
  });

describe('docs/conformance.md', () => {
  it('is what this run came to (npm run conformance writes it)', () => {
    const [first] = engines;
    const text = renderDocument(rows, outcomes.get(first?.name ?? '') ?? []);
    if (process.env.UPDATE_GOLDENS === '1') writeFileSync(DOCUMENT, text);
    expect(readFileSync(DOCUMENT, 'utf8')).toBe(text);
  });
});
