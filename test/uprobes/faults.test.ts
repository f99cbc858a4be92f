/** No planted fault is without effect, and the program that shows it is right without the fault. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { findProfile } from '../../src/uprobes/index.ts';
import { FAULT_NAMES, FAULTS, plantFault } from '../../src/uprobes/testing.ts';
import { engines } from '../helpers/engines.ts';
import { FAULT_CASES, type FaultCase } from './fault-cases.ts';
import { type Rig, withRig } from './rig.ts';

const [engine] = engines;

describe('planted faults', () => {
  let factory: EngineFactory;
  beforeAll(async () => {
    if (engine?.missing === null) factory = await engine.load();
  });
  beforeEach((ctx) => {
    if (engine?.missing !== null) ctx.skip(engine?.missing ?? 'no engine');
  });

  const observe = (given: FaultCase, prepare: (rig: Rig) => void): unknown => {
    let observed: unknown;
    const text = { '0x401000': given.code, ...given.more };
    withRig({ factory, profile: given.profile, text }, (rig) => {
      prepare(rig);
      observed = given.observe(rig);
    });
    return observed;
  };

  it('each has a case, and each case a fault', () => {
    expect(Object.keys(FAULT_CASES).sort()).toEqual([...FAULT_NAMES].sort());
  });

  it.each(FAULT_NAMES)('%s', (name) => {
    const given = FAULT_CASES[name];
    const profile = given === undefined ? undefined : findProfile(given.profile);
    if (given === undefined || profile === undefined) throw new Error('no case');
    expect(FAULTS[name]?.shows?.(profile) ?? true).toBe(true);
    expect(observe(given, () => {})).toEqual(given.right);
    expect(observe(given, ({ uprobes }) => void plantFault(uprobes, name))).not.toEqual(
      given.right,
    );
    // Taken out again nothing is left of it; and another machine never had it.
    expect(observe(given, ({ uprobes }) => plantFault(uprobes, name)())).toEqual(given.right);
  });

  it('a name that nobody gave is refused', () => {
    withRig({ factory, profile: 'k7.3', text: {} }, ({ uprobes }) => {
      expect(() => plantFault(uprobes, 'nothing')).toThrow('no fault is called nothing');
    });
  });
});
