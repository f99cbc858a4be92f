import { describe, expect, it } from 'vitest';
import { type BatchRequest, Worker } from '../../src/fuzz/search/batch.ts';
import { PROFILE_NAMES } from '../../src/uprobes/index.ts';
import { cpuEngines as engines } from '../helpers/engines.ts';

const REQUEST: BatchRequest = {
  seed: 1,
  stream: 0,
  cases: 150,
  profiles: PROFILE_NAMES,
  corpus: [],
  known: [],
};

describe.each(engines)('engine $name', (engine) => {
  it('finds the same with the same seed', async (ctx) => {
    if (engine.missing !== null) ctx.skip(engine.missing);
    const factory = await engine.load();
    const results = [0, 1].map(() => {
      const worker = new Worker(factory);
      const result = worker.run(REQUEST);
      worker.dispose();
      return result;
    });
    expect(results[0]?.covered.length).toBeGreaterThan(50);
    expect(results[1]).toEqual(results[0]);
  });
});
