/** Each allowed difference is needed: without it, a case that is no error is taken for one. */
import { afterEach, describe, expect, it } from 'vitest';
import type { FuzzCase } from '../../src/fuzz/case.ts';
import { ALLOWED } from '../../src/fuzz/run/allowed.ts';
import { Runner } from '../../src/fuzz/run/runner.ts';
import { engines } from '../helpers/engines.ts';

const base = { v: 1, profile: 'k6.18', at: 0x100, calls: 1, regs: {}, seed: 0 } as const;

const CASES: Readonly<Record<string, FuzzCase>> = {
  // mov (%rax),%rcx with ax non-canonical: #GP in the slot
  'stepped-fault-trapno': {
    ...base,
    code: '488b08c3',
    regs: { ax: '0x8000000000000000' },
    probes: [{ site: 0, consumers: [{ kind: 'entry' }] }],
  },
  // pop %rcx; push %rcx; ret: cx is the return address
  'return-address': {
    ...base,
    code: '5951c3',
    probes: [{ site: 0, consumers: [{ kind: 'return' }] }],
  },
  // nop, emulated, with TF set
  'user-single-step': {
    ...base,
    code: '90c3',
    regs: { flags: '0x302' },
    probes: [{ site: 0, consumers: [{ kind: 'entry' }] }],
  },
};

describe.each(engines)('engine $name', (engine) => {
  let runner: Runner | undefined;
  afterEach(() => runner?.dispose());

  it.for(ALLOWED)('$name', async ({ name }, ctx) => {
    if (engine.missing !== null) ctx.skip(engine.missing);
    const test = CASES[name]!;
    const factory = await engine.load();
    runner = new Runner({ factory });
    expect(runner.run(test)).toEqual({ kind: 'same' });
    runner.dispose();
    runner = new Runner({ factory, allowed: ALLOWED.filter((one) => one.name !== name) });
    expect(runner.run(test).kind).toBe('different');
  });
});
