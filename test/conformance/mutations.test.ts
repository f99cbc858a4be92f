/** A wrong uprobe layer turns rows red. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { findProfile, type ProfileName } from '../../src/uprobes/index.ts';
import { FAULT_NAMES, plantFault } from '../../src/uprobes/testing.ts';
import { engines } from '../helpers/engines.ts';
import { allRows } from './all-rows.ts';
import { isRow, type Row, runRow, Trial } from './row.ts';

/** For each fault a row that must notice it. */
const NOTICED_BY: Readonly<Record<string, string>> = {
  'scratch-si-always': 'C75',
  'scratch-di-always': 'C75',
  'scratch-bx-always': 'C75',
  'rex-b-kept': 'C75',
  'operand-based-at-site': 'C75',
  'scratch-lost-after-step': 'C75',
  'scratch-lost-after-fault': 'C77',
  'call-mem-ip-moved': 'C75',
  'jmp-reg-ip-moved': 'C75b',
  'call-returns-to-slot': 'C75b',
  'jcc-pair-inverted': 'C72',
  'jcc-rel32-short': 'C72',
  'push-sp-decremented': 'C73',
  'call-fault-loses-sp': 'C74',
  'tf-left-after-step': 'C77',
  'tf-left-after-fault': 'C77',
  'slot-reused': 'C75',
  'flags-clobbered': 'C1',
  'return-pops-swapped': 'C1',
  'return-ax-lost': 'C1',
  'chain-reversed': 'C80',
  'depth-63': 'C79',
  'alive-strictly-below': 'C80',
  'ret-imm16-ignored': 'C85',
  'optimised-return-off-by-one': 'C2',
  'optimised-write-order': 'C5b',
  'optimised-flags-clobbered': 'C2',
  'reach-page-too-far': 'C86b',
  'nop-keeps-call-byte': 'C5',
  'red-zone-shifted': 'C13',
  'breakpoint-in-file': 'C91',
};

/** For ten of them every row that falls under one profile, and no other. */
const FALLEN: Readonly<Record<string, readonly [ProfileName, readonly string[]]>> = {
  'scratch-lost-after-step': ['k6.18', ['C75']],
  'jcc-pair-inverted': ['k6.10', ['C72']],
  'push-sp-decremented': ['k6.16', ['C73']],
  'call-fault-loses-sp': ['k7.1', ['C74']],
  'tf-left-after-fault': ['k6.18', ['C73', 'C74', 'C77']],
  'return-pops-swapped': ['k6.11', ['C1', 'C3']],
  'chain-reversed': ['k6.14', ['C17', 'C80']],
  'optimised-flags-clobbered': ['k7.3', ['C1', 'C2', 'C3', 'C17']],
  'nop-keeps-call-byte': [
    'k7.1.5',
    ['C5', 'C5b', 'C6', 'C7', 'C8', 'C9', 'C10', 'C11', 'C12', 'C17'],
  ],
  'breakpoint-in-file': ['k7.3', ['C91']],
};

/** Rows that this test is about: others may join the list without a look at it. */
const OWN = /^C(\d|1\d|7\d|8\d|9[0-2])b?$/;

const [engine] = engines;
const rows = (await allRows()).filter(isRow).filter(({ id }) => OWN.test(id));

describe('planted faults', () => {
  let factory: EngineFactory;
  beforeAll(async () => {
    if (engine?.missing === null) factory = await engine.load();
  });
  beforeEach((ctx) => {
    if (engine?.missing !== null) ctx.skip(engine?.missing ?? 'no engine');
  });

  /** Ids of the rows that fail with a fault. */
  const fallen = async (
    among: readonly Row[],
    fault: string,
    name: ProfileName,
  ): Promise<readonly string[]> => {
    const profile = findProfile(name);
    if (profile === undefined) throw new Error(name);
    const ids: string[] = [];
    for (const row of among) {
      if (row.applies?.(profile) === false) continue;
      const trial = new Trial(factory, profile, (uprobes) => void plantFault(uprobes, fault));
      await runRow(row, trial).catch(() => ids.push(row.id));
    }
    return ids;
  };

  it('all are noticed by somebody', () => {
    expect(Object.keys(NOTICED_BY).sort()).toEqual([...FAULT_NAMES].sort());
  });

  it.each(Object.entries(NOTICED_BY))('%s: %s falls', async (fault, id) => {
    const profile = fault === 'red-zone-shifted' ? 'k7.3' : 'k6.18';
    const named = rows.filter((row) => row.id === id);
    expect(await fallen(named, fault, profile)).toEqual([id]);
  });

  it.each(Object.entries(FALLEN))('%s: of all rows, just those', async (fault, [profile, ids]) => {
    expect(await fallen(rows, fault, profile)).toEqual(ids);
  });
});
