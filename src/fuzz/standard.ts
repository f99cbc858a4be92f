/** The case that speed is measured with: about 20 instructions, one site, four hits, one probed and one unprobed run. */
import { toHex } from '../base/bytes.ts';
import type { EngineFactory } from '../cpu/engine.ts';
import type { FuzzCase } from './case.ts';
import { Assembler } from './generate/assembler.ts';
import { STRAIGHT } from './generate/snippets.ts';
import { Random } from './random.ts';
import { Runner } from './run/runner.ts';

const KINDS: ReadonlySet<string> = new Set([
  'alu',
  'load',
  'store',
  'move',
  'unary',
  'shift',
  'cmov',
]);
const BODY = STRAIGHT.filter(({ kind }) => KINDS.has(kind));
const BODY_LENGTH = 17;
const AT = 0x100;

/** movl $4,0x100(%rbp); 1: …; decl 0x100(%rbp); jnz 1b; ret */
const standardCase = (random: Random): FuzzCase => {
  const asm = new Assembler();
  asm.emit('constant', 0xc7, 0x85, 0, 1, 0, 0, 4, 0, 0, 0);
  const again = asm.label();
  asm.place(again);
  for (let left = BODY_LENGTH; left > 0; left--) random.weighted(BODY).add(asm, random, AT);
  asm.emit('unary', 0xff, 0x8d, 0, 1, 0, 0);
  asm.relative('branch8', [0x75], again, 1);
  asm.emit('ret', 0xc3);
  const code = asm.finish();
  if (code === null) return standardCase(random);
  const { offset: site } = random.pick(asm.starts.slice(1, -3));
  const probes = [{ site, consumers: [{ kind: 'entry' }] }] as const;
  const seed = random.below(16);
  return { v: 1, profile: 'k6.18', at: AT, code: toHex(code), probes, calls: 1, regs: {}, seed };
};

/**
 * Microseconds a case takes, new code each time.
 * @param now milliseconds of some clock
 */
export const standardCost = (factory: EngineFactory, cases: number, now: () => number): number => {
  const runner = new Runner({ factory });
  const random = new Random(1);
  const run = (count: number): number => {
    const start = now();
    for (let left = count; left > 0; left--) {
      const { kind } = runner.run(standardCase(random));
      if (kind !== 'same') throw new Error(`the standard case came out ${kind}`);
    }
    return now() - start;
  };
  run(cases);
  const took = run(cases);
  runner.dispose();
  return (took * 1000) / cases;
};
