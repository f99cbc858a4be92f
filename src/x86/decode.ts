/** Decoding through iced-x86: one instruction after another, with what a CPU engine must know. */
import {
  Code,
  CpuidFeature,
  Decoder,
  DecoderError,
  DecoderOptions,
  EncodingKind,
  FlowControl,
  Instruction,
  InstructionInfoFactory,
  type MemorySize,
  MemorySizeExt,
  Mnemonic,
  OpAccess,
  OpKind,
  Register,
  RegisterExt,
  type UsedMemory,
  type UsedRegister,
} from 'iced-x86';

/** What holds for every instruction with one opcode, whatever its operands. */
export interface OpcodeFacts {
  /** Lower case; empty when the bytes are no instruction. */
  readonly mnemonic: string;
  /** CPUID features it needs, by iced-x86's names (`SSE4_2`, `BMI1`, …). */
  readonly features: readonly string[];
  /** Only CPL 0 may do it, or CPL 0-IOPL as for IN, OUT, CLI, STI. */
  readonly privileged: boolean;
  /** No current CPU takes it in a 64-bit user program: UD0-UD2, SYSENTER, 3DNow!, virtualisation … */
  readonly undefined: boolean;
  /** Control does not simply go to the next instruction. */
  readonly branches: boolean;
  /** A memory operand of it must lie on 16 bytes (SDM vol. 1, 4.1.1 and vol. 2's exception classes). */
  readonly aligned: boolean;
  /** Works on MMX registers, which for that become the x87 stack at once. */
  readonly mmx: boolean;
  /** Bytes it stores to an explicit memory operand, 0 if it cannot. */
  readonly stores: number;
}

/** One explicit or implied memory operand. Registers by hardware number, or null. */
export interface MemoryUse {
  readonly base: number | null;
  readonly index: number | null;
  readonly scale: number;
  /** For RIP-relative operands already the address. */
  readonly displacement: bigint;
  readonly segment: 'fs' | 'gs' | 'ss' | 'other';
  readonly size: number;
  readonly reads: boolean;
  readonly writes: boolean;
}

const UNDEFINED_FEATURES =
  /^(D3NOW|D3NOWEXT|CYRIX.*|CENTAUR.*|PADLOCK.*|SVM|SKINIT.*|VMX|SMX|SMM|SEP|INVEPT|INVVPID|TDX|SEV.*|KNC|UDBG|UMOV|IA64|.*_ONLY)$/;

/** 16-byte operands that may lie anywhere. */
const UNALIGNED =
  /^(movup[sd]|movdqu|lddqu|v?pcmp[ei]str[im]|cmpxchg16b|bnd.*|fxsave.*|fxrstor.*|invpcid|invept|invvpid|enqcmds?|movdir64b)$/;

const factsByCode = new Map<number, OpcodeFacts>();

/** Facts of a decoded instruction's opcode, looked up once. */
export const factsOf = (instruction: Instruction): OpcodeFacts => {
  const { code } = instruction;
  const known = factsByCode.get(code);
  if (known !== undefined) return known;
  const features = [...instruction.cpuidFeatures()].map((id) => CpuidFeature[id] ?? '');
  const mnemonic = instruction.isInvalid
    ? ''
    : (Mnemonic[instruction.mnemonic] ?? '').toLowerCase();
  const size = operandSize(instruction.opCode);
  const facts: OpcodeFacts = {
    mnemonic,
    features,
    // RDPMC: Linux leaves CR4.PCE clear.
    privileged: instruction.isPrivileged || mnemonic === 'rdpmc',
    undefined:
      mnemonic === '' ||
      /^ud[0-2]$/.test(mnemonic) ||
      features.some((f) => UNDEFINED_FEATURES.test(f)) ||
      // CR4.CET is clear; RDSSP alone is a nop then.
      (features.includes('CET_SS') && !mnemonic.startsWith('rdssp')),
    branches: instruction.flowControl !== FlowControl.Next,
    aligned:
      instruction.encoding === EncodingKind.Legacy && size === 16 && !UNALIGNED.test(mnemonic),
    mmx: /(^|_)mm(m64)?(_|$)/.test(Code[code] ?? ''),
    stores: STORES.test(mnemonic) ? size : 0,
  };
  factsByCode.set(code, facts);
  return facts;
};

/** Size of the opcode's memory operand, 0 without one. */
const operandSize = (opCode: { memorySize: MemorySize; free(): void }): number => {
  const size = MemorySizeExt.size(opCode.memorySize);
  opCode.free();
  return size;
};

/** Mnemonics that store more than a general register to a place of the program's choosing. */
const STORES =
  /^(mov(aps|apd|ups|upd|dqa|dqu|nt.*)|fb?stp|fnsave|fnstenv|fnstdw|fnstsg|fxsave.*|xsave.*)$/;

const READS: ReadonlySet<number> = new Set([
  OpAccess.Read,
  OpAccess.CondRead,
  OpAccess.ReadWrite,
  OpAccess.ReadCondWrite,
]);
const WRITES: ReadonlySet<number> = new Set([
  OpAccess.Write,
  OpAccess.CondWrite,
  OpAccess.ReadWrite,
  OpAccess.ReadCondWrite,
]);

const general = (register: Register): number | null =>
  RegisterExt.isGPR(register) ? RegisterExt.number(RegisterExt.fullRegister(register)) : null;

const SEGMENTS: Readonly<Record<number, MemoryUse['segment']>> = {
  [Register.FS]: 'fs',
  [Register.GS]: 'gs',
  [Register.SS]: 'ss',
};

const memoryUse = (used: UsedMemory): MemoryUse => {
  const use = {
    base: general(used.base),
    index: general(used.index),
    scale: used.scale,
    displacement: used.displacement,
    segment: SEGMENTS[used.segment] ?? 'other',
    size: MemorySizeExt.size(used.memorySize),
    reads: READS.has(used.access),
    writes: WRITES.has(used.access),
  };
  used.free();
  return use;
};

/**
 * Goes through instructions that follow one another. One scanner serves the whole program; the
 * decoding of one piece ends before the next begins.
 */
export class Scanner {
  readonly #instruction = new Instruction();
  readonly #info = new InstructionInfoFactory();
  #decoder: Decoder | undefined;
  facts!: OpcodeFacts;
  length = 0;

  /** Starts at the first of `bytes`, which lie at `address`. */
  open(bytes: Uint8Array, address: bigint): void {
    this.#decoder?.free();
    this.#decoder = new Decoder(64, bytes, DecoderOptions.None);
    this.#decoder.ip = address;
  }

  /** Decodes the next instruction; false when no byte is left. Bad bytes are one instruction without mnemonic. */
  next(): boolean {
    const decoder = this.#decoder;
    if (decoder === undefined || !decoder.canDecode) return false;
    decoder.decodeOut(this.#instruction);
    this.facts = factsOf(this.#instruction);
    this.length = this.#instruction.length;
    return true;
  }

  /** The bytes ended before the instruction did. */
  get truncated(): boolean {
    return this.#decoder?.lastError === DecoderError.NoMoreBytes;
  }

  /** Whether one of the operands is a memory operand (implied ones do not count). */
  hasMemoryOperand(): boolean {
    const instruction = this.#instruction;
    for (let i = instruction.opCount - 1; i >= 0; i--)
      if (instruction.opKind(i) === OpKind.Memory) return true;
    return false;
  }

  /** The memory operands, implied ones too. */
  memory(): MemoryUse[] {
    const info = this.#info.info(this.#instruction);
    const uses = (info.usedMemory() as UsedMemory[]).map(memoryUse);
    info.free();
    return uses;
  }

  /** General registers it writes, one bit each by hardware number. */
  written(): number {
    const info = this.#info.info(this.#instruction);
    let mask = 0;
    for (const used of info.usedRegisters() as UsedRegister[]) {
      const number = general(used.register);
      if (number !== null && WRITES.has(used.access)) mask |= 1 << number;
      used.free();
    }
    info.free();
    return mask;
  }

  /** The instruction in Intel syntax. */
  text(): string {
    return this.facts.mnemonic === '' ? '(bad)' : this.#instruction.toString();
  }
}
