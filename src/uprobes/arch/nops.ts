/** Which instructions count as nops, by profile (spec sections 0a, 3.3 and 5.1). */
import { type Insn, modrmReg } from '../../x86/insn.ts';
import { Prefix } from '../../x86/insn-prefixes.ts';
import type { Profile } from '../profiles.ts';

/** The nops the kernel itself pads with, of 2 to 8 bytes (SDM vol. 2, NOP, table 4-12). */
const CANONICAL_NOPS: ReadonlySet<string> = new Set([
  '66,90',
  '0f,1f,00',
  '0f,1f,40,00',
  '0f,1f,44,00,00',
  '66,0f,1f,44,00,00',
  '0f,1f,80,00,00,00,00',
  '0f,1f,84,00,00,00,00,00',
]);

const isCanonical = (bytes: Uint8Array, length: number): boolean =>
  length <= 8 &&
  CANONICAL_NOPS.has(
    Array.from(bytes.subarray(0, length), (byte) => byte.toString(16).padStart(2, '0')).join(),
  );

const isOpcode = (insn: Insn, ...opcode: number[]): boolean =>
  insn.opcode.length === opcode.length && opcode.every((byte, i) => insn.opcode[i] === byte);

/** Opcode byte 90 whatever stands before it: the kernel asks neither for REX.B nor for VEX. */
const isOpcode90 = (insn: Insn): boolean => insn.opcode[0] === 0x90;

const REX_R = 4;
const REX_X = 2;
const REX_B = 1;

/** The low bits R, X and B of REX or REX2 (whose upper nibble extends them to five bits). */
const extension = (insn: Insn, bit: number): number => {
  const low = insn.rex.at(-1) ?? 0;
  const one = low & bit ? 8 : 0;
  const high = insn.rex.length === 2 && low & (bit << 4) ? 16 : 0;
  return one + high;
};

const longNop = (insn: Insn): boolean =>
  isOpcode(insn, 0x0f, 0x1f) && modrmReg(insn) === 0 && insn.vector === null;

/** mov %reg,%reg of the full width. */
const movesToItself = (insn: Insn): boolean => {
  const modrm = insn.modrm ?? 0;
  const source = modrmReg(insn) + extension(insn, REX_R);
  const target = (modrm & 7) + extension(insn, REX_B);
  return isOpcode(insn, 0x89) && modrm >> 6 === 3 && insn.operandSize === 8 && source === target;
};

/** lea 0(%reg),%reg of the full width. */
const leaOfItself = (insn: Insn): boolean => {
  if (!isOpcode(insn, 0x8d) || insn.operandSize !== 8 || insn.displacement !== 0) return false;
  if (insn.prefixes.some((prefix) => prefix !== Prefix.Ds)) return false;
  const modrm = insn.modrm ?? 0;
  if (modrm >> 6 !== 1 && modrm >> 6 !== 2) return false;
  let base = modrm & 7;
  if (insn.sib !== null) {
    const noIndex = ((insn.sib >> 3) & 7) + extension(insn, REX_X) === 4;
    if (insn.sib >> 6 !== 0 || !noIndex) return false;
    base = insn.sib & 7;
  }
  return base + extension(insn, REX_B) === modrmReg(insn) + extension(insn, REX_R);
};

const jumpsNowhere = (insn: Insn): boolean =>
  (isOpcode(insn, 0xeb) || isOpcode(insn, 0xe9)) && insn.immediate === 0;

/** The recogniser of 7.x: what the manual would call a nop. */
const isGenericNop = (insn: Insn): boolean => {
  if (insn.vector !== null) return false;
  if (isOpcode(insn, 0x90))
    return extension(insn, REX_B) === 0 && !insn.prefixes.includes(Prefix.Rep);
  const reg = modrmReg(insn) + extension(insn, REX_R);
  if (isOpcode(insn, 0x0f, 0x1f)) return reg === 0;
  return movesToItself(insn) || leaOfItself(insn) || jumpsNowhere(insn);
};

const EMULATED: Readonly<
  Record<Profile['nopEmulation'], (insn: Insn, bytes: Uint8Array) => boolean>
> = {
  '90': isOpcode90,
  canonical: (insn, bytes) => isOpcode90(insn) || isCanonical(bytes, insn.length),
  generic: isGenericNop,
};

/** The profile executes the instruction as a nop. `bytes` begin with the instruction. */
export const isEmulatedNop = (insn: Insn, bytes: Uint8Array, profile: Profile): boolean =>
  EMULATED[profile.nopEmulation](insn, bytes);

const NOP5_SIZE = 5;
const NOP10_SIZE = 10;
const NOP10_START = [0x66, 0x2e, 0x0f, 0x1f, 0x84] as const;
const PAGE = 4096;

const fits = (insn: Insn, size: number, pageOffset: number): boolean =>
  insn.length === size && pageOffset + size <= PAGE;

const isNop5 = (insn: Insn, profile: Profile): boolean =>
  profile.nopEmulation === 'generic' ? isGenericNop(insn) : isOpcode90(insn) || longNop(insn);

/** Which call the profile makes of a site with this instruction; null = it stays a breakpoint. */
export const optimisationOf = (
  insn: Insn,
  bytes: Uint8Array,
  profile: Profile,
  pageOffset: number,
): 'nop5' | 'nop10' | null => {
  switch (profile.optimise) {
    case 'nop5':
      return fits(insn, NOP5_SIZE, pageOffset) && isNop5(insn, profile) ? 'nop5' : null;
    case 'nop10':
      return fits(insn, NOP10_SIZE, pageOffset) &&
        isGenericNop(insn) &&
        NOP10_START.every((byte, i) => bytes[i] === byte)
        ? 'nop10'
        : null;
    case 'none':
      return null;
  }
};
