/** One instruction with its operands as plain data, for engines that pre-decode. */
import {
  Decoder,
  DecoderError,
  DecoderOptions,
  FlowControl,
  Instruction,
  MemorySizeExt,
  OpKind,
  Register,
  RegisterExt,
} from 'iced-x86';
import { factsOf, type OpcodeFacts } from './decode.ts';
import type { RegisterFileName } from './forms.ts';

/** A register by its file and hardware number; `high` = AH, CH, DH, BH. */
export interface RegisterOperand {
  readonly file: RegisterFileName;
  readonly number: number;
  readonly high: boolean;
}

const HIGH: ReadonlySet<Register> = new Set([Register.AH, Register.CH, Register.DH, Register.BH]);

const fileOf = (register: Register): RegisterFileName | undefined => {
  if (RegisterExt.isGPR(register)) return 'gpr';
  if (RegisterExt.isXMM(register)) return 'xmm';
  if (RegisterExt.isYMM(register)) return 'ymm';
  if (RegisterExt.isMM(register)) return 'mm';
  if (RegisterExt.isST(register)) return 'st';
  return RegisterExt.isSegmentRegister(register) ? 'segment' : undefined;
};

const operands = new Map<Register, RegisterOperand | undefined>();

const operandOf = (register: Register): RegisterOperand | undefined => {
  if (operands.has(register)) return operands.get(register);
  const file = fileOf(register);
  const number = file === 'segment' ? RegisterExt.number(register) : numberOf(register);
  const operand = file && { file, number, high: HIGH.has(register) };
  operands.set(register, operand);
  return operand;
};

const numberOf = (register: Register): number =>
  RegisterExt.isGPR(register)
    ? RegisterExt.number(RegisterExt.fullRegister(register))
    : RegisterExt.number(register);

/** Address parts of a memory operand; registers by hardware number, or null. */
export interface MemoryOperand {
  base: number | null;
  index: number | null;
  /** Shift of the index: 0 to 3. */
  scale: number;
  /** With a RIP-relative operand, the address. */
  displacement: bigint;
  narrow: boolean;
  /** Bytes. */
  size: number;
}

/** Bits of an immediate once it is extended to its operand's size; 64 where not said. */
const IMMEDIATE_BITS: Readonly<Record<number, number>> = {
  [OpKind.Immediate8]: 8,
  [OpKind.Immediate8_2nd]: 8,
  [OpKind.Immediate16]: 16,
  [OpKind.Immediate32]: 32,
  [OpKind.Immediate8to16]: 16,
  [OpKind.Immediate8to32]: 32,
};

const shiftOf: Readonly<Record<number, number>> = { 1: 0, 2: 1, 4: 2, 8: 3 };

/** Decodes one instruction after another into the same fields. */
export class OperandDecoder {
  readonly #instruction = new Instruction();
  #decoder: Decoder | undefined;
  readonly registers: (RegisterOperand | undefined)[] = [];
  readonly immediates: bigint[] = [];
  readonly memory: MemoryOperand = {
    base: null,
    index: null,
    scale: 0,
    displacement: 0n,
    narrow: false,
    size: 0,
  };
  hasMemory = false;
  code = 0;
  length = 0;
  /** Target of a direct jump or call. */
  target = 0n;
  segment: 'fs' | 'gs' | null = null;
  /** The memory operand goes through SS. */
  stack = false;
  repeat: 'rep' | 'repne' | null = null;
  invalid = false;
  /** The bytes ended before the instruction did. */
  truncated = false;
  /** What holds for the opcode. */
  facts!: OpcodeFacts;
  flow: 'next' | 'conditional' | 'leaves' = 'next';

  open(bytes: Uint8Array, address: bigint): void {
    this.#decoder?.free();
    this.#decoder = new Decoder(64, bytes, DecoderOptions.None);
    this.#decoder.ip = address;
  }

  /** Decodes the next instruction. False when no byte is left. */
  next(): boolean {
    const decoder = this.#decoder;
    if (decoder === undefined || !decoder.canDecode) return false;
    const instruction = this.#instruction;
    decoder.decodeOut(instruction);
    this.code = instruction.code;
    this.length = instruction.length;
    this.facts = factsOf(instruction);
    this.invalid = instruction.isInvalid;
    this.truncated = decoder.lastError === DecoderError.NoMoreBytes;
    if (!this.invalid) this.#read(instruction);
    return true;
  }

  /** The instruction in Intel syntax. */
  text(): string {
    return this.#instruction.toString();
  }

  #read(instruction: Instruction): void {
    this.repeat = instruction.hasRepnePrefix ? 'repne' : instruction.hasRepPrefix ? 'rep' : null;
    this.flow = flowOf(instruction.flowControl);
    this.hasMemory = false;
    this.registers.length = 0;
    this.immediates.length = 0;
    this.segment = null;
    this.stack = false;
    this.memory.narrow = false;
    for (let i = 0, n = instruction.opCount; i < n; i++) this.#operand(instruction, i);
  }

  #operand(instruction: Instruction, i: number): void {
    const kind = instruction.opKind(i);
    if (kind === OpKind.Register) this.registers[i] = operandOf(instruction.opRegister(i));
    else if (kind === OpKind.Memory) this.#memory(instruction);
    else if (kind === OpKind.NearBranch64) this.target = instruction.nearBranchTarget;
    else if (kind === OpKind.NearBranch16)
      this.target = BigInt.asUintN(16, instruction.nearBranchTarget);
    else if (kind >= OpKind.Immediate8 && kind <= OpKind.Immediate32to64)
      this.immediates.push(BigInt.asUintN(IMMEDIATE_BITS[kind] ?? 64, instruction.immediate(i)));
    else this.#implied(instruction, kind);
  }

  #memory(instruction: Instruction): void {
    const { memory } = this;
    this.hasMemory = true;
    const { memoryBase, memoryIndex } = instruction;
    const relative = memoryBase === Register.RIP || memoryBase === Register.EIP;
    memory.base = relative || memoryBase === Register.None ? null : numberOf(memoryBase);
    memory.index = memoryIndex === Register.None ? null : numberOf(memoryIndex);
    memory.scale = shiftOf[instruction.memoryIndexScale] ?? 0;
    memory.displacement = instruction.memoryDisplacement;
    memory.narrow = narrowAddress(memoryBase, memoryIndex, instruction.memoryDisplSize);
    memory.size = MemorySizeExt.size(instruction.memorySize);
    this.#segment(instruction);
  }

  /** String instructions, MASKMOVQ, XLAT: only segment and address size differ. */
  #implied(instruction: Instruction, kind: OpKind): void {
    if (kind < OpKind.MemorySegSI || kind > OpKind.MemoryESRDI) return;
    if (kind <= OpKind.MemorySegRDI) this.#segment(instruction);
    this.memory.narrow =
      kind === OpKind.MemorySegESI || kind === OpKind.MemorySegEDI || kind === OpKind.MemoryESEDI;
  }

  #segment(instruction: Instruction): void {
    const { memorySegment } = instruction;
    this.segment =
      memorySegment === Register.FS ? 'fs' : memorySegment === Register.GS ? 'gs' : null;
    this.stack = memorySegment === Register.SS;
  }
}

const narrowAddress = (base: Register, index: Register, displacementSize: number): boolean => {
  const named = base === Register.None ? index : base;
  if (named === Register.None) return displacementSize === 4;
  return named === Register.EIP || RegisterExt.isGPR32(named);
};

const flowOf = (flow: FlowControl): OperandDecoder['flow'] => {
  if (flow === FlowControl.Next || flow === FlowControl.XbeginXabortXend) return 'next';
  return flow === FlowControl.ConditionalBranch ? 'conditional' : 'leaves';
};
