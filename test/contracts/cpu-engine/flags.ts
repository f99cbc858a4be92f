import { expect, it } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { Flag, NOWHERE, type Rig, STACK_TOP } from './rig.ts';

const { CF, PF, AF, ZF, SF, OF } = Flag;

/** A flag-setting instruction, with EAX = 5 and ECX = 1, and what it leaves (SDM vol. 2, each page). */
const SETTERS: readonly (readonly [string, bigint])[] = [
  ['83 f8 05          cmp eax,5', ZF | PF],
  ['83 f8 06          cmp eax,6', CF | PF | AF | SF],
  ['83 c0 7b          add eax,7Bh', AF],
  ['04 7b             add al,7Bh', AF | SF | OF],
  ['2c 06             sub al,6', CF | PF | AF | SF],
  ['83 d8 05          sbb eax,5', ZF | PF],
  ['83 e0 02          and eax,2', ZF | PF],
  ['83 c8 80          or eax,0FFFFFF80h', SF],
  ['a8 04             test al,4', 0n],
  ['31 c0             xor eax,eax', ZF | PF],
  ['ff c0             inc eax', PF],
  ['ff c8             dec eax', 0n],
  ['f7 d8             neg eax', CF | SF | AF],
  ['d1 e0             shl eax,1', PF],
  ['d1 e8             shr eax,1', CF],
  ['d3 e0             shl eax,cl', PF],
  ['0f a3 c8          bt eax,ecx', 0n],
  ['0f b1 c8          cmpxchg eax,ecx', ZF | PF],
  ['0f c1 c8          xadd eax,ecx', PF],
  ['f9                stc', CF],
];
/** Flags the manual leaves undefined after these are not compared. */
const UNDEFINED: Readonly<Record<string, bigint>> = {
  and: AF,
  or: AF,
  test: AF,
  xor: AF,
  shl: AF,
  shr: AF,
  bt: OF | SF | AF | PF,
};

/** What comes right after it; each traps with the flags as they were set. */
const ENDS: readonly (readonly [string, string])[] = [
  ['int3', 'cc                int3'],
  ['a load that faults', '8b 13             mov edx,[rbx]'],
  ['a store that faults', '89 13             mov [rbx],edx'],
  ['an add to memory that faults', '01 13             add [rbx],edx'],
  ['an SSE load that faults', '0f 10 03          movups xmm0,[rbx]'],
  ['an x87 store that faults', 'd9 1b             fstp dword ptr [rbx]'],
  ['a division by zero', 'f7 f7             div edi'],
  ['syscall', '0f 05             syscall'],
  ['ud2', '0f 0b             ud2'],
  ['hlt', 'f4                hlt'],
];

export const flagTests = (rig: () => Rig): void => {
  for (const [name, end] of ENDS)
    it(`has exact flags at ${name}`, () => {
      for (const [setter, flags] of SETTERS) {
        // a second instruction keeps the flags alive over a change of the operands
        rig().load(`${setter}\n b8 00 00 00 00    mov eax,0\n ${end}`);
        rig().set(Reg.Rax, 5n);
        rig().set(Reg.Rcx, 1n);
        rig().set(Reg.Rbx, NOWHERE);
        rig().run();
        const mnemonic = setter.split(/\s{2,}/)[1]!.split(' ')[0]!;
        const compared = ~(UNDEFINED[mnemonic] ?? 0n);
        const what = `${setter.split(/\s{2,}/)[1]} then ${name}`;
        expect([what, rig().arithmetic & compared]).toEqual([what, flags & compared]);
      }
    });

  it('acts on flags as written', () => {
    rig().load(`
      0f 92 c0   setb al
      0f 94 c3   sete bl
      0f 98 c1   sets cl
      0f 90 c2   seto dl
      9c         pushfq
      5e         pop rsi
      cc         int3`);
    for (const flags of [CF, ZF, SF, OF, CF | OF, PF | AF | ZF, 0n]) {
      for (const reg of [Reg.Rax, Reg.Rbx, Reg.Rcx, Reg.Rdx]) rig().set(reg, 0n);
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rflags, flags);
      rig().run();
      const seen = [Reg.Rax, Reg.Rbx, Reg.Rcx, Reg.Rdx].map((reg) => rig().get(reg) === 1n);
      expect(seen).toEqual([CF, ZF, SF, OF].map((flag) => (flags & flag) !== 0n));
      expect(rig().get(Reg.Rsi)).toBe(flags | 0x202n);
    }
  });

  it('counts down in string instructions while DF is set', () => {
    rig().load(`
      a4         movsb
      fd         std
      a4         movsb
      cc         int3`);
    rig().set(Reg.Rsi, 0x60_0010n);
    rig().set(Reg.Rdi, 0x60_0020n);
    rig().run();
    expect([rig().get(Reg.Rsi), rig().get(Reg.Rdi)]).toEqual([0x60_0010n, 0x60_0020n]);
    expect(rig().get(Reg.Rflags) & Flag.DF).toBe(Flag.DF);
  });

  it('keeps IF and IOPL from popf, and lets NT, AC and ID through', () => {
    // SDM vol. 2, POPF: at CPL 3 with IOPL 0 neither IF nor IOPL changes
    rig().load(`
      9d         popfq
      9c         pushfq
      58         pop rax
      cc         int3`);
    const sp = STACK_TOP - 0x800n;
    for (const [popped, left] of [
      [0n, 0x202n],
      [0x3000n, 0x202n],
      [0x4000n, 0x4202n],
      [0x24_0000n, 0x24_0202n],
      [0x8d5n, 0xad7n],
    ] as const) {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rsp, sp);
      rig().poke64(sp, popped);
      rig().run();
      expect(rig().get(Reg.Rax)).toBe(left);
      expect(rig().get(Reg.Rflags)).toBe(left);
    }
  });
};
