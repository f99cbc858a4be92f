import { describe, expect, it } from 'vitest';
import type { FuzzCase } from '../../src/fuzz/case.ts';
import { Against } from '../../src/fuzz/run/against.ts';
import { Runner } from '../../src/fuzz/run/runner.ts';
import { type BatchRequest, Worker } from '../../src/fuzz/search/batch.ts';
import { cpuEngines as engines } from '../helpers/engines.ts';

/** xchg %r8,%rax, which 6.18 takes for a nop and 7.1 does not (as seen on 6.18.44; the generic rule of 7.x asks for REX.B). */
const EXCHANGE: FuzzCase = {
  v: 1,
  profile: 'k6.18',
  at: 0x100,
  code: '4990c3',
  probes: [{ site: 0, consumers: [{ kind: 'entry' }] }],
  calls: 1,
  regs: { ax: '0x1', r8: '0x2' },
  seed: 0,
};

describe.each(engines)('engine $name', (engine) => {
  it('tells two kernels apart', async (ctx) => {
    if (engine.missing !== null) ctx.skip(engine.missing);
    const factory = await engine.load();
    const runner = new Runner({ factory });
    const other = new Runner({ factory });
    const differences = [{ what: 'ax', expected: '0x2', got: '0x1' }];
    expect(new Against(runner, { runner: other, profile: 'k7.1' }).run(EXCHANGE)).toMatchObject({
      kind: 'different',
      differences: [...differences, { what: 'r8', expected: '0x1', got: '0x2' }],
    });
    expect(new Against(runner, { runner: other, profile: 'k6.16' }).run(EXCHANGE).kind).toBe(
      'same',
    );
    expect(new Against(runner, { runner: other }).run(EXCHANGE).kind).toBe('same');
    runner.dispose();
    other.dispose();
  });

  it('runs the second mapping, and tells which way each case went', async (ctx) => {
    if (engine.missing !== null) ctx.skip(engine.missing);
    const factory = await engine.load();
    const worker = new Worker(factory, { against: { profile: 'k6.16' } });
    const request = { seed: 1, stream: 0, cases: 20, profiles: ['k6.18'], corpus: [], known: [] };
    const keys = worker.run(request as BatchRequest).covered.map(({ key }) => key);
    worker.dispose();
    expect(keys.length).toBeGreaterThan(1);
    for (const key of keys) expect(key).toMatch(/ k6\.18$/);
    const runner = new Runner({ factory });
    const other = new Runner({ factory });
    new Against(runner, { runner: other, profile: 'k6.16' }).run({ ...EXCHANGE, far: true });
    expect(runner.lastPath).toMatch(/ returned k6\.18$/);
    runner.dispose();
    other.dispose();
  });
});
