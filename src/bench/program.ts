/**
 * The benchmark's guest: a static ELF made of bytes, that calls one target N times and exits.
 * Targets are those of the kernel's trigger benchmark (spec section 7.2).
 */

export const CODE_ADDRESS = 0x401000n;

/** Machine code of each target; the probe sits on its first byte. */
export const TARGETS = {
  nop: [0x90, 0xc3],
  // push %rbp; mov %rsp,%rbp; call +0 (to the ret below); mov $1,%eax; pop %rbp; ret; ret
  push: [0x55, 0x48, 0x89, 0xe5, 0xe8, 0x07, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0x5d, 0xc3, 0xc3],
  ret: [0xc3],
  nop5: [0x0f, 0x1f, 0x44, 0, 0, 0xc3],
  nop10: [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0xc3],
} as const;
export type TargetName = keyof typeof TARGETS;

const le = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor(value / 2 ** (8 * i)) & 0xff);

const LOOP = 5; // offset of the call
const AFTER_CALL = 10;
const TARGET = 0x20;

/** `mov $n,%ebx; 1: call target; dec %ebx; jnz 1b; mov $231,%eax; xor %edi,%edi; syscall` + target. */
const codeOf = (target: TargetName, calls: number): number[] => {
  const code = [0xbb, ...le(calls, 4)];
  code.push(0xe8, ...le(TARGET - AFTER_CALL, 4));
  code.push(0xff, 0xcb);
  code.push(0x75, (LOOP - (code.length + 2)) & 0xff);
  code.push(0xb8, ...le(231, 4), 0x31, 0xff, 0x0f, 0x05);
  while (code.length < TARGET) code.push(0xcc);
  return [...code, ...TARGETS[target]];
};

const HEADER_SIZE = 64 + 56;
const CODE_OFFSET = 0x1000;

/** The ELF file of a target. */
export const benchProgram = (target: TargetName, calls: number): Uint8Array =>
  staticElf(codeOf(target, calls));

/** A static ELF whose entry is the first byte of `code`. */
export const staticElf = (code: ArrayLike<number>): Uint8Array => {
  const size = code.length;
  const header = [
    ...[0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ...[...le(2, 2), ...le(62, 2), ...le(1, 4), ...le(Number(CODE_ADDRESS), 8)],
    ...[...le(64, 8), ...le(0, 8), ...le(0, 4), ...le(64, 2), ...le(56, 2), ...le(1, 2)],
    ...[...le(0, 2), ...le(0, 2), ...le(0, 2)],
    ...[...le(1, 4), ...le(5, 4), ...le(CODE_OFFSET, 8), ...le(Number(CODE_ADDRESS), 8)],
    ...[...le(Number(CODE_ADDRESS), 8), ...le(size, 8), ...le(size, 8), ...le(0x1000, 8)],
  ];
  if (header.length !== HEADER_SIZE) throw new Error('the ELF header is not 120 bytes');
  const file = new Uint8Array(CODE_OFFSET + size);
  file.set(header);
  file.set(code, CODE_OFFSET);
  return file;
};

/** File offset of the probed instruction. */
export const TARGET_OFFSET = BigInt(CODE_OFFSET + TARGET);
