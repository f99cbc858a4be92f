/** The suite every CPU engine passes; `src/cpu/engine.ts` is what it checks. */
import { beforeAll, beforeEach, describe } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import type { TestedEngine } from '../helpers/engines.ts';
import { budgetTests } from './cpu-engine/budget.ts';
import { capabilityTests } from './cpu-engine/capabilities.ts';
import { chaosTests } from './cpu-engine/chaos.ts';
import { faultTests } from './cpu-engine/faults.ts';
import { flagTests } from './cpu-engine/flags.ts';
import { handlerTests } from './cpu-engine/handlers.ts';
import { memoryTests } from './cpu-engine/memory.ts';
import { registerTests } from './cpu-engine/registers.ts';
import { Rig } from './cpu-engine/rig.ts';
import { simdTests } from './cpu-engine/simd.ts';
import { snapshotTests } from './cpu-engine/snapshots.ts';
import { stepTests } from './cpu-engine/steps.ts';
import { textTests } from './cpu-engine/text.ts';
import { trapTests } from './cpu-engine/traps.ts';

/** One part of the contract; `rig` answers the machine its tests share. */
type Part = (rig: () => Rig, factory: () => EngineFactory) => void;

const PARTS: Readonly<Record<string, Part>> = {
  registers: registerTests,
  flags: flagTests,
  faults: faultTests,
  traps: trapTests,
  steps: stepTests,
  text: textTests,
  budget: budgetTests,
  memory: memoryTests,
  snapshots: snapshotTests,
  handlers: handlerTests,
  simd: simdTests,
  chaos: chaosTests,
  capabilities: capabilityTests,
};

/** Registers the tests of one part for one engine. */
export const cpuEngineContract = (engine: TestedEngine, part: string): void => {
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory | undefined;
    let rig: Rig | undefined;
    beforeEach(({ skip }) => {
      if (engine.missing !== null) skip(engine.missing);
      if (rig !== undefined) rig.skip = skip;
    });
    beforeAll(async () => {
      if (engine.missing !== null) return;
      factory = await engine.load();
      rig = new Rig(factory);
      return () => rig?.engine.dispose();
    });
    describe(part, () => {
      PARTS[part]!(
        () => rig!,
        () => factory!,
      );
    });
  });
};
