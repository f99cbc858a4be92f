/** The engines every engine-dependent suite runs on: `describe('engine NAME', …)`. */
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { ENGINES, type EngineName } from '../../src/cpu/engines.ts';
import { loadEngine } from '../../src/host/node/engines.ts';
import { missing, type RequirementName } from './requirements.ts';

/** What an engine needs beyond npm. */
const NEEDS: Readonly<Record<EngineName, RequirementName | null>> = {
  unicorn: null,
  'unicorn-native': 'libunicorn2',
  core: null,
};

export interface TestedEngine {
  readonly name: EngineName;
  load(): Promise<EngineFactory>;
  /** Why it cannot run here (for `ctx.skip`), or null. */
  readonly missing: string | null;
}

/** All of them: what tests instructions skips by what an instruction needs. */
export const cpuEngines: readonly TestedEngine[] = (Object.keys(ENGINES) as EngineName[]).map(
  (name) => {
    const need = NEEDS[name];
    return { name, load: () => loadEngine(name), missing: need === null ? null : missing(need) };
  },
);

/** The engines as what runs whole programs sees them. */
export const engines: readonly TestedEngine[] = cpuEngines;
