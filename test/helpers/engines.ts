/** The engines every engine-dependent suite runs on: `describe('engine NAME', …)`. */
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { ENGINES, type EngineName } from '../../src/cpu/engines.ts';
import { loadEngine } from '../../src/host/node/engines.ts';
import { missing, type RequirementName } from './requirements.ts';

/** What an engine needs beyond npm. */
const NEEDS: Readonly<Record<EngineName, RequirementName | null>> = {
  unicorn: null,
  'unicorn-native': 'libunicorn2',
};

export interface TestedEngine {
  readonly name: EngineName;
  load(): Promise<EngineFactory>;
  /** Why it cannot run here (for `ctx.skip`), or null. */
  readonly missing: string | null;
}

export const engines: readonly TestedEngine[] = (Object.keys(ENGINES) as EngineName[]).map(
  (name) => {
    const need = NEEDS[name];
    return { name, load: () => loadEngine(name), missing: need === null ? null : missing(need) };
  },
);
