/** Parts of decoded instructions. Lengths and validity are pinned by test/uprobes/acceptance.test.ts. */
import { describe, expect, it } from 'vitest';
import {
  decodeInsn,
  type Insn,
  immOffset,
  isRipRelative,
  modrmOffset,
  modrmReg,
} from '../../src/x86/insn.ts';

const decode = (hex: string): Insn | null =>
  decodeInsn(Uint8Array.from(Buffer.from(hex.replace(/\s+/g, ''), 'hex')));

describe('the kernel’s view of an instruction', () => {
  it('finds every part', () => {
    // addq $0x12345678,-0x80(%r9,%rcx,4) with two prefixes
    const insn = decode('64 67 49 81 44 89 80 78 56 34 12')!;
    expect(insn).toMatchObject({
      length: 11,
      prefixes: [0x64, 0x67],
      prefixCount: 2,
      rex: [0x49],
      vector: null,
      opcode: [0x81],
      modrm: 0x44,
      sib: 0x89,
      dispSize: 1,
      displacement: -0x80,
      immSize: 4,
      immediate: 0x12345678,
      operandSize: 8,
    });
    expect([modrmOffset(insn), immOffset(insn), modrmReg(insn)]).toEqual([4, 7, 0]);
    expect(isRipRelative(insn)).toBe(false);
    expect(isRipRelative(decode('8b 05 00 00 00 00')!)).toBe(true);
  });

  it('counts a repeated prefix once, and takes a fifth different one for the opcode', () => {
    expect(decode('66 66 66 90')).toMatchObject({ prefixes: [0x66], prefixCount: 3, length: 4 });
    expect(decode('66 f3 f2 64 65 90')).toMatchObject({
      prefixes: [0x66, 0xf3, 0xf2, 0x64],
      opcode: [0x65],
      length: 5,
    });
  });

  it('knows VEX, EVEX, XOP and REX2', () => {
    expect(decode('c5 f8 77')).toMatchObject({ vector: 'vex2', opcode: [0x77], modrm: null });
    expect(decode('c4 e2 79 18 c1')).toMatchObject({ vector: 'vex3', length: 5 });
    expect(decode('62 f1 7c 48 10 c1')).toMatchObject({ vector: 'evex', length: 6 });
    expect(decode('8f e9 78 90 c1')).toMatchObject({ vector: 'xop', length: 5 });
    expect(decode('8f c0')).toMatchObject({ vector: null, opcode: [0x8f], length: 2 });
    expect(decode('d5 10 89 c0')).toMatchObject({ rex: [0xd5, 0x10], opcode: [0x89] });
    // Behind REX there is no VEX: C5 is an opcode with a modrm byte.
    expect(decode('48 c5 f8 77')).toMatchObject({ vector: null, opcode: [0xc5], length: 3 });
  });

  it('skips the prefix of emulated instructions, but not in the places of the parts', () => {
    const insn = decode('0f 0b 78 65 6e e8 01 00 00 00')!;
    expect(insn).toMatchObject({ emulatePrefix: true, opcode: [0xe8], length: 10, immediate: 1 });
    expect(immOffset(insn)).toBe(1);
  });

  it('gives up beyond 15 bytes and where bytes are missing', () => {
    expect(decode(`${'64'.repeat(14)}90`)?.length).toBe(15);
    expect(decode(`${'64'.repeat(15)}90`)).toBeNull();
    expect(decode('48 b8 01 02 03')).toBeNull();
    expect(decode('')).toBeNull();
  });
});
