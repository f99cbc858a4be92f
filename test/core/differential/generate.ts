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

/** MXCSR with every exception masked, or one of the rounding modes. */
export const initialFx = (random: Random): Uint8Array => {
  const fx = new Uint8Array(512);
  const view = new DataView(fx.buffer);
  view.setUint16(0, 0x37f, true);
  view.setUint32(24, 0x1f80, true);
  fx.set(random.bytes(256), 160);
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
