import { expect, it } from 'vitest';
import { type EngineFactory, Prot, Reg } from '../../../src/cpu/engine.ts';
import { CODE } from '../../helpers/code.ts';
import { random } from './memory.ts';
import { DATA, FLAGS, Rig, STACK_TOP } from './rig.ts';

/** Prefixes and escapes that make odd instructions likely. */
const SPICE = [
  0x0f, 0x66, 0xf2, 0xf3, 0xf0, 0x48, 0x4f, 0xc5, 0xc4, 0x62, 0xd8, 0xdb, 0xdf, 0x64, 0x67,
];

/** Random bytes as code: whatever they do, the host survives and gets control back. */
export const chaosTests = (rig: () => Rig, factory: () => EngineFactory): void => {
  const runBytes = (target: Rig, bytes: Uint8Array, next: (below: number) => number): void => {
    target.engine.poke(CODE, bytes);
    for (let reg = 0; reg < 16; reg++) {
      const value = [0n, DATA + 0x800n, -1n, BigInt(next(2 ** 31)), CODE, 1n << 63n][next(6)]!;
      target.set(reg as Reg, value);
    }
    target.set(Reg.Rsp, STACK_TOP - 0x1000n);
    target.set(Reg.Rflags, FLAGS);
    target.set(Reg.Rip, CODE);
    let traps = 0;
    target.engine.run(
      (trap) => {
        if (++traps >= 20 || trap.kind === 'budget') return 'stop';
        // go on somewhere in the same bytes
        target.set(Reg.Rip, CODE + BigInt(next(bytes.length)));
        return 'go';
      },
      { instructions: 2000 },
    );
    target.set(Reg.Rflags, FLAGS);
  };

  it('survives random bytes', () => {
    const next = random(20260101);
    for (let round = 0; round < 60; round++) {
      const bytes = Uint8Array.from({ length: 256 }, () =>
        next(3) === 0 ? SPICE[next(SPICE.length)]! : next(256),
      );
      runBytes(rig(), bytes, next);
    }
    // and still works
    rig().load('48 ff c0  inc rax\n cc  int3');
    expect([rig().run()[0]!.kind, rig().get(Reg.Rax)]).toEqual(['int3', 1n]);
  });

  it('survives random bytes that may be written', () => {
    const target = new Rig(factory());
    target.engine.protect(CODE, 0x1000n, Prot.Read | Prot.Write | Prot.Exec);
    const next = random(4711);
    for (let round = 0; round < 40; round++)
      runBytes(
        target,
        Uint8Array.from({ length: 128 }, () => next(256)),
        next,
      );
    target.engine.dispose();
  });

  it('steps through random bytes without hanging or losing the program’s flags', () => {
    const next = random(99);
    for (let round = 0; round < 60; round++) {
      rig().engine.poke(
        CODE,
        Uint8Array.from({ length: 64 }, () => next(256)),
      );
      rig().set(Reg.Rsp, STACK_TOP - 0x1000n);
      rig().set(Reg.Rbx, DATA);
      rig().set(Reg.Rflags, FLAGS);
      rig().set(Reg.Rip, CODE);
      for (let i = 0; i < 10; i++) {
        const at = rig().get(Reg.Rip);
        const seen = rig().step();
        if (seen.length === 0 && rig().get(Reg.Rip) === at) continue; // a rep iteration, or a jump to itself
        if (seen.length > 0) break;
      }
    }
    rig().load('cc  int3');
    expect(rig().get(Reg.Rflags)).toBe(FLAGS);
  });
};
