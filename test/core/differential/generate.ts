/** Instructions made from forms, with random operands, and the states they start from. */
import { Code, Encoder, Instruction, OpCodeOperandKind, OpKind, Register } from 'iced-x86';
import type { Form } from '../../../src/x86/forms.ts';
import {
  type Case,
  CODE_SIZE,
  NATIVE_CODE,
  type State,
  WINDOW,
  WINDOW_SIZE,
} from '../native/case.ts';
import type { Random } from './random.ts';

/** Addresses of memory operands: the middle of the window, where two pages meet. */
const MIDDLE = WINDOW + BigInt(WINDOW_SIZE / 2);

const GPRS: Readonly<Record<string, readonly (keyof typeof Register)[]>> = {
  8: [
    'AL',
    'CL',
    'DL',
    'BL',
    'AH',
    'CH',
    'DH',
    'BH',
    'SPL',
    'BPL',
    'SIL',
    'DIL',
    'R8L',
    'R9L',
    'R15L',
  ],
  16: ['AX', 'CX', 'DX', 'BX', 'BP', 'SI', 'DI', 'R8W', 'R12W', 'R13W', 'R15W'],
  32: ['EAX', 'ECX', 'EDX', 'EBX', 'EBP', 'ESI', 'EDI', 'R8D', 'R12D', 'R13D', 'R15D'],
  64: ['RAX', 'RCX', 'RDX', 'RBX', 'RBP', 'RSI', 'RDI', 'R8', 'R12', 'R13', 'R15'],
};

const FIXED: Readonly<Record<string, keyof typeof Register>> = {
  al: 'AL',
  cl: 'CL',
  ax: 'AX',
  dx: 'DX',
  eax: 'EAX',
  rax: 'RAX',
  st0: 'ST0',
  fs: 'FS',
  gs: 'GS',
};

/** A register for an operand kind; undefined where it has none. */
const registerFor = (kind: string, random: Random): Register | undefined => {
  const fixed = FIXED[kind];
  if (fixed !== undefined) return Register[fixed];
  const general = /^r(8|16|32|64)_/.exec(kind);
  if (general !== null) return Register[random.pick(GPRS[general[1]!]!)];
  if (/^xmm_/.test(kind)) return Register.XMM0 + random.below(16);
  if (/^mm_/.test(kind)) return Register.MM0 + random.below(8);
  if (kind === 'sti_opcode') return Register.ST0 + random.below(8);
  if (kind === 'seg_reg') return random.pick([Register.CS, Register.SS, Register.DS]);
  return undefined;
};

/** How an immediate is held, by operand kind. */
const IMMEDIATES: Readonly<Record<string, readonly [kind: OpKind, bits: number]>> = {
  imm8: [OpKind.Immediate8, 8],
  imm8sex16: [OpKind.Immediate8to16, 8],
  imm8sex32: [OpKind.Immediate8to32, 8],
  imm8sex64: [OpKind.Immediate8to64, 8],
  imm16: [OpKind.Immediate16, 16],
  imm32: [OpKind.Immediate32, 32],
  imm32sex64: [OpKind.Immediate32to64, 32],
  imm64: [OpKind.Immediate64, 64],
};

const IMPLIED: Readonly<Record<string, OpKind>> = {
  seg_rSI: OpKind.MemorySegRSI,
  es_rDI: OpKind.MemoryESRDI,
  seg_rDI: OpKind.MemorySegRDI,
};

export interface Made {
  readonly bytes: Uint8Array;
  readonly instruction: Instruction;
}

/**
 * One instruction of a form; undefined where a form needs what is not made here.
 * @param memory a memory operand where the form allows either
 */
export const make = (form: Form, memory: boolean, random: Random): Made | undefined => {
  const instruction = new Instruction();
  instruction.code = Code[form.name as keyof typeof Code];
  const info = instruction.opCode;
  const kinds = Array.from({ length: info.opCount }, (_, i) => OpCodeOperandKind[info.opKind(i)]!);
  info.free();
  for (const [i, kind] of kinds.entries())
    if (!operand(instruction, i, kind, memory, random)) return undefined;
  return encoded(instruction);
};

const operand = (
  instruction: Instruction,
  i: number,
  kind: string,
  memory: boolean,
  random: Random,
): boolean => {
  const isMemory = kind === 'mem' || kind === 'mem_offs' || (memory && /_or_mem$/.test(kind));
  if (isMemory && kind !== 'mem_offs') return setMemory(instruction, i, random);
  const register = registerFor(kind, random);
  if (register !== undefined) {
    instruction.setOpKind(i, OpKind.Register);
    instruction.setOpRegister(i, register);
    return true;
  }
  if (kind === 'imm8_const_1') {
    instruction.setOpKind(i, OpKind.Immediate8);
    instruction.setImmediateU64(i, 1n);
    return true;
  }
  const immediate = IMMEDIATES[kind];
  if (immediate !== undefined) return setImmediate(instruction, i, immediate, random);
  const implied = IMPLIED[kind];
  if (implied === undefined) return setBranch(instruction, i, kind);
  instruction.setOpKind(i, implied);
  return true;
};

/** Through R10, or R10 and R11, which {@link stateFor} points at the window. */
const setMemory = (instruction: Instruction, i: number, random: Random): true => {
  instruction.setOpKind(i, OpKind.Memory);
  instruction.memoryBase = Register.R10;
  if (random.below(2) === 0) {
    instruction.memoryIndex = Register.R11;
    instruction.memoryIndexScale = random.pick([1, 2, 4, 8]);
  }
  instruction.memoryDisplacement = BigInt.asUintN(64, BigInt(random.below(96)) - 48n);
  instruction.memoryDisplSize = 1;
  return true;
};

const setImmediate = (
  instruction: Instruction,
  i: number,
  [kind, bits]: readonly [OpKind, number],
  random: Random,
): true => {
  instruction.setOpKind(i, kind);
  const value = BigInt.asIntN(bits, random.value());
  instruction.setImmediateI64(i, value);
  return true;
};

/** Branches go 16 bytes on. */
const setBranch = (instruction: Instruction, i: number, kind: string): boolean => {
  if (!/^br64_/.test(kind)) return false;
  instruction.setOpKind(i, OpKind.NearBranch64);
  instruction.nearBranch64 = NATIVE_CODE + 40n;
  return true;
};

const encoder = new Encoder(64);

const encoded = (instruction: Instruction): Made | undefined => {
  try {
    encoder.encode(instruction, NATIVE_CODE);
  } catch {
    encoder.takeBuffer();
    return undefined;
  }
  return { bytes: encoder.takeBuffer(), instruction };
};

/** CF PF AF ZF SF DF OF. */
const FLAGS = 0xcd5;

/** Doubles and singles where arithmetic turns: bits of 64 and 32. */
const DOUBLES = [
  ...[0x0n, 0x3ff0_0000_0000_0000n, 0x4000_0000_0000_0000n, 0x7ff0_0000_0000_0000n],
  ...[0x7fef_ffff_ffff_ffffn, 0x0010_0000_0000_0000n, 0x000f_ffff_ffff_ffffn, 1n],
  ...[0x7ff8_0000_0000_0001n, 0x7ff0_0000_0000_0001n, 0x41e0_0000_0000_0000n],
  ...[0x43e0_0000_0000_0000n, 0x3fe0_0000_0000_0000n, 0x3ff8_0000_0000_0000n],
];
const SINGLES = [
  ...[0, 0x3f80_0000, 0x4000_0000, 0x7f80_0000, 0x7f7f_ffff, 0x0080_0000, 0x007f_ffff, 1],
  ...[0x7fc0_0001, 0x7f80_0001, 0x4f00_0000, 0x5f00_0000, 0x3f00_0000, 0x3fc0_0000],
];

/** 16 bytes that may be numbers: special ones, ordinary ones, any. */
const vectorBytes = (random: Random): Uint8Array => {
  const view = new DataView(random.bytes(16).buffer);
  const sign = (): bigint => BigInt(random.below(2)) << 63n;
  const kind = random.below(5);
  for (let i = 0; i < 2; i++) {
    const fraction = view.getBigUint64(8 * i, true) & 0xf_ffff_ffff_ffffn;
    const near = (BigInt(1023 - 30 + random.below(60)) << 52n) | fraction;
    if (kind === 0) view.setBigUint64(8 * i, random.pick(DOUBLES) | sign(), true);
    if (kind === 1) view.setBigUint64(8 * i, near | sign(), true);
  }
  for (let i = 0; i < 4; i++) {
    const minus = random.below(2) * 2 ** 31;
    const near = (127 - 15 + random.below(30)) * 2 ** 23 + random.below(2 ** 23);
    if (kind === 2) view.setUint32(4 * i, random.pick(SINGLES) + minus, true);
    if (kind === 3) view.setUint32(4 * i, near + minus, true);
  }
  return new Uint8Array(view.buffer);
};

/** Mostly as programs have it; sometimes other rounding, DAZ and FTZ, or unmasked exceptions. */
const mxcsrFor = (random: Random): number => {
  const noted = random.pick([0, 0x20, 0x3f]);
  const rounding = random.below(4) === 0 ? random.below(4) << 13 : 0;
  const zeroing = random.below(4) === 0 ? random.pick([0x40, 0x8000, 0x8040]) : 0;
  const masks = random.below(6) === 0 ? random.below(64) << 7 : 0x1f80;
  return noted | rounding | zeroing | masks;
};

/** 80-bit numbers where arithmetic turns. */
const EXTENDEDS = [
  ...[0x0n, 0x3fff_8000_0000_0000_0000n, 0x4000_c000_0000_0000_0000n, 0x7fff_8000_0000_0000_0000n],
  ...[0x7ffe_ffff_ffff_ffff_ffffn, 0x0001_8000_0000_0000_0000n, 0x0000_7fff_ffff_ffff_ffffn, 1n],
  ...[0x7fff_c000_0000_0000_0001n, 0x7fff_8000_0000_0000_0001n, 0x403e_8000_0000_0000_0000n],
  ...[0x4034_8000_0000_0000_0001n, 0x3ffe_8000_0000_0000_0000n, 0x4000_0000_0000_0000_0000n],
];

const extendedBytes = (random: Random): Uint8Array => {
  const bytes = random.bytes(10);
  const view = new DataView(bytes.buffer);
  const kind = random.below(4);
  if (kind === 0) {
    const bits = random.pick(EXTENDEDS) | (BigInt(random.below(2)) << 79n);
    view.setBigUint64(0, BigInt.asUintN(64, bits), true);
    view.setUint16(8, Number(bits >> 64n), true);
  } else if (kind < 3) {
    const near = kind === 1 ? 16383 - 40 + random.below(80) : random.below(0x7fff);
    view.setUint16(8, near | (random.below(2) << 15), true);
    bytes[7]! |= 0x80;
  }
  return bytes;
};

/** Mostly with every exception masked; all roundings and precisions. */
const controlFor = (random: Random): number => {
  const masks = random.below(5) === 0 ? random.below(64) : 0x3f;
  const precision = random.below(3) === 0 ? random.pick([0, 2, 3]) : 3;
  return masks | 0x40 | (precision << 8) | ((random.below(3) === 0 ? random.below(4) : 0) << 10);
};

/** x87 with a few registers in use, or as execve leaves it; SSE as {@link mxcsrFor} says, with numbers in it. */
export const initialFx = (random: Random): Uint8Array => {
  const fx = new Uint8Array(512);
  const view = new DataView(fx.buffer);
  view.setUint16(0, 0x37f, true);
  view.setUint32(24, mxcsrFor(random), true);
  for (let i = 0; i < 16; i++) fx.set(vectorBytes(random), 160 + 16 * i);
  if (random.below(3) === 0) return fx;
  view.setUint16(0, controlFor(random), true);
  // no exception pending, conditions at random, TOP anywhere
  view.setUint16(2, (random.below(8) << 11) | (random.word() & 0x4700), true);
  fx[4] = random.pick([0xff, 0x7e, random.below(256)]);
  for (let i = 0; i < 8; i++) fx.set(extendedBytes(random), 32 + 16 * i);
  return fx;
};

/** A random state; R10 and R11 make addresses, RSP, RSI and RDI lie in the window. */
export const stateFor = (random: Random): State => {
  const gpr = Array.from({ length: 16 }, () => random.value());
  const near = (): bigint => MIDDLE + BigInt(random.below(64)) - 32n;
  gpr[10] = near();
  gpr[11] = BigInt(random.below(9)) - 4n;
  gpr[11] = BigInt.asUintN(64, gpr[11]);
  gpr[4] = near();
  if (random.below(4) !== 0) {
    gpr[6] = near();
    gpr[7] = near();
  }
  return {
    gpr,
    flags: BigInt((random.word() & FLAGS) | 0x202),
    fx: initialFx(random),
    window: random.bytes(WINDOW_SIZE),
  };
};

export const caseOf = (code: Uint8Array, state: State): Case => {
  if (code.length > CODE_SIZE) throw new Error(`code of ${code.length} bytes`);
  return { code, state };
};
