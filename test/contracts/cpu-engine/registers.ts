import { expect, it } from 'vitest';
import { Reg } from '../../../src/cpu/engine.ts';
import { briefly, DATA, FLAGS, type Rig } from './rig.ts';

const GENERAL = Array.from({ length: 16 }, (_, i) => i as Reg);

/** General registers, RIP, segment bases. */
export const registerTests = (rig: () => Rig): void => {
  it('has TF by itself, and as part of RFLAGS', () => {
    rig().load('90  nop\n 90  nop\n cc  int3');
    const { regs } = rig().engine;
    expect(regs.trapFlag).toBe(false);
    regs.trapFlag = true;
    expect([regs.trapFlag, rig().get(Reg.Rflags)]).toEqual([true, FLAGS | 0x100n]);
    expect(briefly(rig().run())).toEqual(['debug@1']);
    regs.trapFlag = false;
    expect([regs.trapFlag, rig().get(Reg.Rflags)]).toEqual([false, FLAGS]);
    expect(briefly(rig().run())).toEqual(['int3@3']);
    rig().set(Reg.Rflags, FLAGS | 0x100n);
    expect(regs.trapFlag).toBe(true);
  });

  it('keeps sixteen 64-bit registers, by their hardware encodings', () => {
    // mov [600000h],r for all sixteen, by encoding
    rig().load(`
      48 89 04 25 00 00 60 00   mov [600000h],rax
      48 89 0c 25 08 00 60 00   mov [600008h],rcx
      48 89 14 25 10 00 60 00   mov [600010h],rdx
      48 89 1c 25 18 00 60 00   mov [600018h],rbx
      48 89 24 25 20 00 60 00   mov [600020h],rsp
      48 89 2c 25 28 00 60 00   mov [600028h],rbp
      48 89 34 25 30 00 60 00   mov [600030h],rsi
      48 89 3c 25 38 00 60 00   mov [600038h],rdi
      4c 89 04 25 40 00 60 00   mov [600040h],r8
      4c 89 0c 25 48 00 60 00   mov [600048h],r9
      4c 89 14 25 50 00 60 00   mov [600050h],r10
      4c 89 1c 25 58 00 60 00   mov [600058h],r11
      4c 89 24 25 60 00 60 00   mov [600060h],r12
      4c 89 2c 25 68 00 60 00   mov [600068h],r13
      4c 89 34 25 70 00 60 00   mov [600070h],r14
      4c 89 3c 25 78 00 60 00   mov [600078h],r15
      cc                        int3`);
    const value = (reg: number): bigint => 0xf123_4567_89ab_cd00n + BigInt(reg);
    for (const reg of GENERAL) rig().set(reg, value(reg));
    rig().run();
    for (const reg of GENERAL) {
      expect(rig().peek64(DATA + 8n * BigInt(reg))).toBe(value(reg));
      expect(rig().get(reg)).toBe(value(reg));
    }
  });

  it('takes values modulo 2^64', () => {
    rig().load('cc  int3');
    rig().set(Reg.Rax, -1n);
    rig().set(Reg.Rbx, (1n << 64n) + 5n);
    expect([rig().get(Reg.Rax), rig().get(Reg.Rbx)]).toEqual([0xffff_ffff_ffff_ffffn, 5n]);
  });

  it('clears the upper half on 32-bit writes and keeps the rest on smaller ones', () => {
    // SDM vol. 1, 3.4.1.1
    rig().load(`
      b8 44 33 22 11   mov eax,11223344h
      b3 55            mov bl,55h
      66 b9 77 66      mov cx,6677h
      b6 99            mov dh,99h
      cc               int3`);
    for (const reg of [Reg.Rax, Reg.Rcx, Reg.Rdx, Reg.Rbx]) rig().set(reg, 0xaaaa_aaaa_aaaa_aaaan);
    rig().run();
    expect(rig().get(Reg.Rax)).toBe(0x1122_3344n);
    expect(rig().get(Reg.Rbx)).toBe(0xaaaa_aaaa_aaaa_aa55n);
    expect(rig().get(Reg.Rcx)).toBe(0xaaaa_aaaa_aaaa_6677n);
    expect(rig().get(Reg.Rdx)).toBe(0xaaaa_aaaa_aaaa_99aan);
  });

  it('runs from RIP as written', () => {
    rig().load(`
      48 ff c0   inc rax
      48 ff c3   inc rbx
      cc         int3`);
    rig().set(Reg.Rip, rig().get(Reg.Rip) + 3n);
    rig().run();
    expect([rig().get(Reg.Rax), rig().get(Reg.Rbx), rig().at]).toEqual([0n, 1n, 7]);
  });

  it('adds FS and GS bases, also when they change in a trap', () => {
    rig().load(`
      64 48 8b 04 25 10 00 00 00   mov rax,fs:[10h]
      0f 05                        syscall
      64 48 8b 1c 25 10 00 00 00   mov rbx,fs:[10h]
      65 48 8b 14 25 18 00 00 00   mov rdx,gs:[18h]
      cc                           int3`);
    for (let i = 0n; i < 8n; i++) rig().poke64(DATA + 8n * i, 100n + i);
    rig().set(Reg.FsBase, DATA);
    rig().set(Reg.GsBase, DATA - 8n);
    rig().run((trap) => {
      if (trap.kind === 'syscall') rig().set(Reg.FsBase, DATA + 8n);
      return trap.kind === 'syscall' ? 'go' : 'stop';
    });
    expect([Reg.Rax, Reg.Rbx, Reg.Rdx].map((reg) => rig().get(reg))).toEqual([102n, 103n, 102n]);
    expect(rig().get(Reg.FsBase)).toBe(DATA + 8n);
  });

  it('shows the selectors of a 64-bit Linux program', () => {
    rig().load(`
      8c c8   mov eax,cs
      8c d3   mov ebx,ss
      8c d9   mov ecx,ds
      cc      int3`);
    rig().run();
    expect([Reg.Rax, Reg.Rbx, Reg.Rcx].map((reg) => rig().get(reg))).toEqual([0x33n, 0x2bn, 0n]);
  });

  it('starts with IF set and keeps bit 1 set', () => {
    rig().load('cc  int3');
    rig().set(Reg.Rflags, 0n);
    expect(rig().get(Reg.Rflags)).toBe(FLAGS);
  });
};
