import { expect, it } from 'vitest';
import { type Access, Prot, Reg } from '../../../src/cpu/engine.ts';
import { briefly, DATA, Flag, NOWHERE, type Rig, STACK_TOP } from './rig.ts';

/** Accesses that fault on a page that is not there, RBX = its address; and what the CPU wants then. */
const ACCESSES: readonly (readonly [listing: string, access: Access])[] = [
  ['48 8b 13               mov rdx,[rbx]', 'read'],
  ['48 89 13               mov [rbx],rdx', 'write'],
  ['c6 03 05               mov byte ptr [rbx],5', 'write'],
  // read-modify-write asks for the right to write at once (SDM vol. 3, 4.7)
  ['48 01 13               add [rbx],rdx', 'write'],
  ['48 11 13               adc [rbx],rdx', 'write'],
  ['48 ff 03               inc qword ptr [rbx]', 'write'],
  ['48 f7 1b               neg qword ptr [rbx]', 'write'],
  ['48 c1 23 03            shl qword ptr [rbx],3', 'write'],
  ['48 0f ba 2b 05         bts qword ptr [rbx],5', 'write'],
  ['48 87 13               xchg rdx,[rbx]', 'write'],
  ['f0 48 0f b1 13         lock cmpxchg [rbx],rdx', 'write'],
  ['f0 48 0f c1 13         lock xadd [rbx],rdx', 'write'],
  ['f0 48 0f c7 0b         lock cmpxchg16b [rbx]', 'write'],
  ['f0 0f c7 0b            lock cmpxchg8b [rbx]', 'write'],
  ['48 3b 13               cmp rdx,[rbx]', 'read'],
  ['48 0f af 13            imul rdx,[rbx]', 'read'],
  ['48 f7 33               div qword ptr [rbx]', 'read'],
  ['0f 92 03               setb [rbx]', 'write'],
  ['48 0f 44 13            cmove rdx,[rbx]', 'read'],
  ['ff 33                  push qword ptr [rbx]', 'read'],
  ['8f 03                  pop qword ptr [rbx]', 'write'],
  ['ff 13                  call qword ptr [rbx]', 'read'],
  ['ff 23                  jmp qword ptr [rbx]', 'read'],
  ['48 0f c3 13            movnti [rbx],rdx', 'write'],
  ['8c 1b                  mov [rbx],ds', 'write'],
  ['0f 10 03               movups xmm0,[rbx]', 'read'],
  ['0f 11 03               movups [rbx],xmm0', 'write'],
  ['0f 28 03               movaps xmm0,[rbx]', 'read'],
  ['66 0f 7f 03            movdqa [rbx],xmm0', 'write'],
  ['f3 0f 10 03            movss xmm0,dword ptr [rbx]', 'read'],
  ['f2 0f 11 03            movsd qword ptr [rbx],xmm0', 'write'],
  ['0f 58 03               addps xmm0,[rbx]', 'read'],
  ['f2 0f 51 03            sqrtsd xmm0,qword ptr [rbx]', 'read'],
  ['66 0f 2f 03            comisd xmm0,qword ptr [rbx]', 'read'],
  ['66 0f 3a 63 03 00      pcmpistri xmm0,[rbx],0', 'read'],
  ['0f 6f 03               movq mm0,[rbx]', 'read'],
  ['0f 7f 03               movq [rbx],mm0', 'write'],
  ['d9 03                  fld dword ptr [rbx]', 'read'],
  ['dd 03                  fld qword ptr [rbx]', 'read'],
  ['db 2b                  fld tbyte ptr [rbx]', 'read'],
  ['df 23                  fbld tbyte ptr [rbx]', 'read'],
  ['df 2b                  fild qword ptr [rbx]', 'read'],
  ['d9 1b                  fstp dword ptr [rbx]', 'write'],
  ['dd 1b                  fstp qword ptr [rbx]', 'write'],
  ['db 3b                  fstp tbyte ptr [rbx]', 'write'],
  ['df 33                  fbstp tbyte ptr [rbx]', 'write'],
  ['df 3b                  fistp qword ptr [rbx]', 'write'],
  ['dc 03                  fadd qword ptr [rbx]', 'read'],
  ['d9 2b                  fldcw [rbx]', 'read'],
  ['d9 3b                  fnstcw [rbx]', 'write'],
  ['dd 3b                  fnstsw [rbx]', 'write'],
  ['d9 33                  fnstenv [rbx]', 'write'],
  ['d9 23                  fldenv [rbx]', 'read'],
  ['dd 33                  fnsave [rbx]', 'write'],
  ['dd 23                  frstor [rbx]', 'read'],
  ['0f ae 03               fxsave [rbx]', 'write'],
  ['0f ae 0b               fxrstor [rbx]', 'read'],
  ['0f ae 1b               stmxcsr [rbx]', 'write'],
  ['0f ae 13               ldmxcsr [rbx]', 'read'],
];

/** Six bytes before the access: a store and an addition, done once and not twice. */
const BEFORE = `
  ff 04 25 00 00 60 00   inc dword ptr [600000h]
  48 83 c6 02            add rsi,2`;
const BEFORE_SIZE = 11;

const GENERAL = Array.from({ length: 16 }, (_, i) => i as Reg);

export const faultTests = (rig: () => Rig): void => {
  for (const [listing, access] of ACCESSES) {
    const text = listing.split(/\s{2,}/)[1]!;
    it(`stops exactly at ${text}`, () => {
      rig().load(`${BEFORE}\n ${listing}\n cc  int3`);
      // something on the x87 stack, so that a store has what to pop
      const fx = rig().fx();
      fx.set([0x80, 0], 4);
      fx.set([0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f], 32);
      fx[3] = 0x38;
      rig().engine.regs.writeFx(fx);
      const fxBefore = rig().fx();
      rig().set(Reg.Rdx, 7n);
      rig().set(Reg.Rbx, NOWHERE);
      const before = GENERAL.map((reg) => rig().get(reg));
      const [fault] = rig().run();
      expect(fault).toMatchObject({ kind: 'page-fault', at: BEFORE_SIZE, access, mapped: false });
      expect(fault!.address).toBe(NOWHERE);
      before[Reg.Rsi]! += 2n;
      expect(GENERAL.map((reg) => rig().get(reg))).toEqual(before);
      expect(rig().fx()).toEqual(fxBefore);
      expect(rig().peek(DATA, 4)).toEqual(Uint8Array.of(1, 0, 0, 0));
    });
  }

  it('goes on where it stopped once the page is there', () => {
    rig().load(`
      ff 04 25 00 00 60 00   inc dword ptr [600000h]
      83 f8 05               cmp eax,5
      0f 10 03               movups xmm0,[rbx]
      0f 11 43 10            movups [rbx+10h],xmm0
      0f 94 c1               sete cl
      ff 04 25 00 00 60 00   inc dword ptr [600000h]
      cc                     int3`);
    rig().set(Reg.Rax, 5n);
    rig().set(Reg.Rbx, NOWHERE);
    const seen = rig().run((trap) => {
      if (trap.kind !== 'page-fault') return 'stop';
      rig().engine.map(NOWHERE, 0x1000n, Prot.Read | Prot.Write);
      rig().engine.poke(NOWHERE, Uint8Array.of(1, 2, 3));
      return 'go';
    });
    expect(briefly(seen)).toEqual(['page-fault@10', 'int3@28']);
    expect(rig().peek(NOWHERE + 0x10n, 4)).toEqual(Uint8Array.of(1, 2, 3, 0));
    expect(rig().peek(DATA, 1)).toEqual(Uint8Array.of(2));
    expect(rig().get(Reg.Rcx)).toBe(1n);
    rig().engine.unmap(NOWHERE, 0x1000n);
  });

  it('goes to a handler and returns to the same instruction with the same flags', () => {
    rig().load(`
      83 f8 06               cmp eax,6
      89 13                  mov [rbx],edx
      0f 92 c1               setb cl
      cc                     int3`);
    rig().set(Reg.Rax, 5n);
    rig().set(Reg.Rbx, NOWHERE);
    let saved = 0n;
    const seen = rig().run((trap) => {
      if (trap.kind === 'page-fault') {
        saved = rig().get(Reg.Rflags);
        rig().set(Reg.Rflags, 0x202n);
        rig().set(Reg.Rip, 0x40_0008n); // the int3
        return 'go';
      }
      if (rig().get(Reg.Rbx) === DATA) return 'stop';
      rig().set(Reg.Rbx, DATA);
      rig().set(Reg.Rflags, saved);
      rig().set(Reg.Rip, 0x40_0003n);
      return 'go';
    });
    expect(briefly(seen)).toEqual(['page-fault@3', 'int3@9', 'int3@9']);
    expect(saved & 0x8d5n).toBe(Flag.CF | Flag.PF | Flag.AF | Flag.SF);
    expect(rig().get(Reg.Rcx)).toBe(1n);
  });

  it('tells a page without rights from one that is not there', () => {
    rig().load('48 89 13  mov [rbx],rdx\n cc  int3');
    rig().engine.protect(DATA, 0x1000n, Prot.Read);
    rig().set(Reg.Rbx, DATA + 8n);
    expect(rig().run()[0]).toMatchObject({ kind: 'page-fault', access: 'write', mapped: true });
    rig().engine.protect(DATA, 0x1000n, Prot.None);
    rig().load('48 8b 13  mov rdx,[rbx]\n cc  int3');
    rig().set(Reg.Rbx, DATA + 8n);
    const [fault] = rig().run();
    expect(fault).toMatchObject({ kind: 'page-fault', access: 'read', mapped: true });
    expect(fault!.address).toBe(DATA + 8n);
    rig().engine.protect(DATA, 0x1000n, Prot.Read | Prot.Write);
    expect(briefly(rig().run())).toEqual(['int3@4']);
  });

  /** Stores that begin on the last writable page and end behind it. */
  const CROSSING: readonly (readonly [listing: string, size: bigint])[] = [
    ['48 89 03               mov [rbx],rax', 8n],
    ['89 03                  mov [rbx],eax', 4n],
    ['66 89 03               mov [rbx],ax', 2n],
    ['48 01 03               add [rbx],rax', 8n],
    ['0f 11 03               movups [rbx],xmm0', 16n],
    ['f3 0f 7f 03            movdqu [rbx],xmm0', 16n],
    ['66 0f 11 03            movupd [rbx],xmm0', 16n],
    ['db 3b                  fstp tbyte ptr [rbx]', 10n],
    ['dd 13                  fst qword ptr [rbx]', 8n],
  ];
  const END = DATA + 0x2000n;

  for (const [listing, size] of CROSSING)
    it(`stores nothing of ${listing.split(/\s{2,}/)[1]} when its second page is missing`, () => {
      for (let first = 1n; first < size; first++) {
        rig().load(`48 83 c3 01  add rbx,1\n ${listing}\n cc  int3`);
        rig().set(Reg.Rax, -1n);
        rig().set(Reg.Rbx, END - first - 1n);
        const fx = rig().fx();
        fx.fill(0xff, 160, 176);
        fx.set([0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f], 32);
        fx[4] = 0x80;
        fx[3] = 0x38;
        rig().engine.regs.writeFx(fx);
        const [fault] = rig().run();
        expect(fault).toMatchObject({ kind: 'page-fault', at: 4, access: 'write' });
        expect(fault!.address).toBe(END);
        expect(rig().peek(END - 16n, 16)).toEqual(new Uint8Array(16));
      }
    });

  it('names the first missing byte of a load that crosses into or out of a mapping', () => {
    rig().load('48 8b 13  mov rdx,[rbx]\n cc  int3');
    for (const [start, missing] of [
      [END - 3n, END],
      [DATA - 3n, DATA - 3n],
    ] as const) {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rbx, start);
      expect(rig().run()[0]!.address).toBe(missing);
    }
  });

  it('stops a string instruction after the iterations that were done', () => {
    rig().load(`
      b9 10 00 00 00         mov ecx,10h
      f3 a4                  rep movsb
      cc                     int3`);
    rig().engine.poke(DATA, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    rig().set(Reg.Rsi, DATA);
    rig().set(Reg.Rdi, END - 4n);
    const [fault] = rig().run();
    expect(fault).toMatchObject({ kind: 'page-fault', at: 5, access: 'write' });
    expect(fault!.address).toBe(END);
    expect([rig().get(Reg.Rcx), rig().get(Reg.Rsi)]).toEqual([12n, DATA + 4n]);
    expect(rig().peek(END - 4n, 4)).toEqual(Uint8Array.of(1, 2, 3, 4));
  });

  it('reports pushes, calls and returns beyond the stack', () => {
    for (const [listing, access, address] of [
      ['50                     push rax', 'write', NOWHERE - 8n],
      ['e8 00 00 00 00         call 400005h', 'write', NOWHERE - 8n],
      ['58                     pop rax', 'read', NOWHERE],
      ['c3                     ret', 'read', NOWHERE],
      ['c9                     leave', 'read', NOWHERE],
      ['9c                     pushfq', 'write', NOWHERE - 8n],
    ] as const) {
      rig().load(listing);
      rig().set(Reg.Rsp, NOWHERE);
      rig().set(Reg.Rbp, NOWHERE);
      const [fault] = rig().run();
      expect(fault).toMatchObject({ kind: 'page-fault', at: 0, access });
      expect(fault!.address).toBe(address);
      expect(rig().get(Reg.Rsp)).toBe(NOWHERE);
    }
  });

  it('is #GP at an address in no half of the address space, #SS through the stack pointer', () => {
    // SDM vol. 1, 3.3.7.1; vol. 3, 6.15: a non-canonical stack reference is #SS
    const bad = 0x8000_0000_0000n;
    for (const [listing, reg, kind] of [
      ['48 8b 13               mov rdx,[rbx]', Reg.Rbx, 'general-protection'],
      ['0f 11 03               movups [rbx],xmm0', Reg.Rbx, 'general-protection'],
      ['48 8b 55 00            mov rdx,[rbp]', Reg.Rbp, 'stack-fault'],
      ['50                     push rax', Reg.Rsp, 'stack-fault'],
      ['48 8b 14 24            mov rdx,[rsp]', Reg.Rsp, 'stack-fault'],
      ['c3                     ret', Reg.Rsp, 'stack-fault'],
    ] as const) {
      rig().load(`90  nop\n ${listing}`);
      rig().set(reg, bad + 0x100n);
      expect([listing, ...briefly(rig().run())]).toEqual([listing, `${kind}@1`]);
    }
  });

  it('is a page fault at an address of the kernel’s half', () => {
    rig().load('48 8b 13  mov rdx,[rbx]');
    for (const address of [
      0xffff_ffff_8000_0000n,
      0xffff_8000_0000_0000n,
      0xffff_fe00_0000_1000n,
    ]) {
      rig().set(Reg.Rip, 0x40_0000n);
      rig().set(Reg.Rbx, address);
      const [fault] = rig().run();
      expect(fault).toMatchObject({ kind: 'page-fault', at: 0, mapped: false });
      expect(fault!.address).toBe(address);
    }
  });

  it('is a page fault at the target of a jump to nowhere', () => {
    rig().load('ff e3  jmp rbx');
    rig().set(Reg.Rbx, NOWHERE + 5n);
    const [fault] = rig().run();
    expect(fault).toMatchObject({ kind: 'page-fault', access: 'exec', mapped: false });
    expect([fault!.address, rig().get(Reg.Rip)]).toEqual([NOWHERE + 5n, NOWHERE + 5n]);
  });

  it('does not execute data', () => {
    rig().load('ff e3  jmp rbx');
    rig().engine.poke(DATA + 0x10n, Uint8Array.of(0x90, 0xcc));
    rig().set(Reg.Rbx, DATA + 0x10n);
    const [fault] = rig().run();
    expect(fault).toMatchObject({ kind: 'page-fault', access: 'exec', mapped: true });
    expect([fault!.address, rig().get(Reg.Rip)]).toEqual([DATA + 0x10n, DATA + 0x10n]);
  });

  it('runs the last instructions before the end of the mapped code', () => {
    // 48 at the very end: an instruction whose second byte is on the missing page
    const start = 0x40_4000n - 4n;
    rig().load('cc  int3');
    for (const [bytes, at, address] of [
      [[0xff, 0xc0, 0xff, 0xc0], 0x4000, 0x40_4000n],
      [[0xff, 0xc0, 0x90, 0x48], 0x3fff, 0x40_4000n],
    ] as const) {
      rig().engine.poke(start, Uint8Array.from(bytes));
      rig().set(Reg.Rax, 0n);
      rig().set(Reg.Rsp, STACK_TOP - 8n);
      rig().set(Reg.Rip, start);
      const [fault] = rig().run();
      expect(fault).toMatchObject({ kind: 'page-fault', access: 'exec', at, mapped: false });
      expect(fault!.address).toBe(address);
      expect(rig().get(Reg.Rax)).toBe(at === 0x4000 ? 2n : 1n);
      expect(rig().get(Reg.Rflags) & 0x100n).toBe(0n);
    }
  });

  it('keeps faulting as often as it is asked to', () => {
    rig().load('48 8b 13  mov rdx,[rbx]');
    rig().set(Reg.Rbx, NOWHERE);
    let count = 0;
    const seen = rig().run(() => (++count === 50 ? 'stop' : 'go'));
    expect(new Set(briefly(seen))).toEqual(new Set(['page-fault@0']));
  });
};
