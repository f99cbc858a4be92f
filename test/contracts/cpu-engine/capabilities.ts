import { expect, it } from 'vitest';
import type { EngineFactory } from '../../../src/cpu/engine.ts';
import type { Rig } from './rig.ts';

export const capabilityTests = (rig: () => Rig, factory: () => EngineFactory): void => {
  it('tells what it can do, the same as its factory', () => {
    const { capabilities, name } = rig().engine;
    expect([factory().capabilities, factory().name]).toEqual([capabilities, name]);
    expect(capabilities.extensions.length).toBeGreaterThan(0);
    // VEX code must be refused where AVX is not claimed
    rig().load('c5 f1 fe c2  vpaddd xmm0,xmm1,xmm2\n cc  int3');
    expect(rig().run()[0]!.kind).toBe(capabilities.avx ? 'int3' : 'unsupported');
  });

  it('says what it gets wrong in whole sentences', () => {
    for (const sentence of rig().engine.capabilities.knownWrong)
      expect(sentence).toMatch(/^\w.* .*\.$/);
  });
};
