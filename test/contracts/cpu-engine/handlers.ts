import { expect, it } from 'vitest';
import { type Answer, Prot, Reg } from '../../../src/cpu/engine.ts';
import { CODE } from '../../helpers/code.ts';
import { briefly, NOWHERE, type Rig } from './rig.ts';

/** One trap of each kind at the start of the code, and where RIP is then. */
const TRAPS: readonly (readonly [listing: string, kind: string, at: number])[] = [
  ['cc                     int3', 'int3', 1],
  ['cd 42                  int 42h', 'interrupt', 2],
  ['0f 05                  syscall', 'syscall', 2],
  ['f1                     int1', 'debug', 1],
  ['8b 04 25 00 00 90 00   mov eax,[900000h]', 'page-fault', 0],
  ['0f 10 04 25 00 00 90 00   movups xmm0,[900000h]', 'page-fault', 0],
  ['0f 10 05 f9 ff ff 7f   movups xmm0,[80400000h]', 'page-fault', 0],
  ['f4                     hlt', 'general-protection', 0],
  ['ec                     in al,dx', 'general-protection', 0],
  ['0f 28 05 01 00 00 00   movaps xmm0,[400008h]', 'general-protection', 0],
  ['0f 0b                  ud2', 'invalid-opcode', 0],
  ['f0 90', 'invalid-opcode', 0],
  ['f7 f7                  div edi', 'divide-error', 0],
  ['c5 f8 77               vzeroupper', 'unsupported', 0],
];
const TARGET = CODE + 0x100n;

export const handlerTests = (rig: () => Rig): void => {
  /** The trap's listing; at +0x100 `inc rbx; int3`. */
  const prepare = (listing: string): void => {
    rig().load(listing);
    rig().engine.poke(TARGET, Uint8Array.of(0x48, 0xff, 0xc3, 0xcc));
  };

  for (const [listing, kind, at] of TRAPS) {
    const text = listing.split(/\s{2,}/)[1] ?? listing;
    it(`goes where the handler sends it, at ${text}`, () => {
      prepare(listing);
      const seen = rig().run((_trap, { at: where }) => {
        if (where === 0x104) return 'stop';
        rig().set(Reg.Rip, TARGET);
        rig().set(Reg.Rcx, 5n);
        return 'go';
      });
      expect(briefly(seen)).toEqual([`${kind}@${at}`, 'int3@260']);
      expect([rig().get(Reg.Rbx), rig().get(Reg.Rcx)]).toEqual([1n, 5n]);
    });

    it(`stops where the handler has put RIP, at ${text}`, () => {
      prepare(listing);
      const seen = rig().run(() => {
        rig().set(Reg.Rip, TARGET);
        rig().set(Reg.Rax, 7n);
        rig().set(Reg.Rflags, 0x203n);
        return 'stop';
      });
      expect(briefly(seen)).toEqual([`${kind}@${at}`]);
      expect([rig().get(Reg.Rip), rig().get(Reg.Rax), rig().get(Reg.Rflags)]).toEqual([
        TARGET,
        7n,
        0x203n,
      ]);
      expect(briefly(rig().run())).toEqual(['int3@260']);
    });

    it(`stops in place and can go on, at ${text}`, () => {
      prepare(listing);
      expect(briefly(rig().run())).toEqual([`${kind}@${at}`]);
      expect([rig().at, rig().get(Reg.Rflags) & 0x100n]).toEqual([at, 0n]);
      rig().set(Reg.Rip, TARGET);
      expect(briefly(rig().run())).toEqual(['int3@260']);
    });

    it(`lets the handler change memory, at ${text}`, () => {
      for (const answer of ['go', 'stop'] as Answer[]) {
        prepare(listing);
        const seen = rig().run((_trap, { at: where }) => {
          if (where === 0x104) return 'stop';
          rig().engine.map(NOWHERE, 0x2000n, Prot.Read | Prot.Write);
          rig().engine.protect(NOWHERE, 0x1000n, Prot.Read);
          rig().engine.poke(CODE, Uint8Array.of(0xe9, 0xfb, 0, 0, 0)); // jmp TARGET
          rig().engine.unmap(NOWHERE + 0x1000n, 0x1000n);
          rig().set(Reg.Rip, CODE);
          return answer;
        });
        if (answer === 'stop') rig().run();
        expect([seen[0]!.kind, rig().get(Reg.Rbx)]).toEqual([kind, 1n]);
        rig().engine.unmap(NOWHERE, 0x1000n);
      }
    });

    it(`throws what the handler throws, at ${text}`, () => {
      prepare(listing);
      const error = new Error('from the handler');
      expect(() =>
        rig().run(() => {
          throw error;
        }),
      ).toThrow(error);
      rig().set(Reg.Rip, TARGET);
      expect(briefly(rig().run())).toEqual(['int3@260']);
    });
  }

  it('hands over the same trap object each time', () => {
    rig().load('cc  int3\n cc  int3');
    const traps = new Set<unknown>();
    let count = 0;
    rig().engine.run((trap) => {
      traps.add(trap);
      return ++count === 2 ? 'stop' : 'go';
    });
    expect(traps.size).toBe(1);
  });

  it('has registers of its own in every trap of a long run', () => {
    rig().load('cc  int3\n 48 ff c0  inc rax\n eb fa  jmp short 400000h');
    let count = 0n;
    rig().run(() => {
      expect(rig().get(Reg.Rax)).toBe(count);
      return ++count === 500n ? 'stop' : 'go';
    });
  });
};
