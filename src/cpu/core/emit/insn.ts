/**
 * What a row of `rows/` sees: the operands of one instruction and the means to compute with them. A row says in
 * order what the instruction does; whatever can fault comes before whatever changes the state. The same row
 * makes the interpreter's handler (`tier0.ts`) and could make code with known operands.
 */
import type { Body, Local } from '../wasm/body.ts';
import type { Expr } from '../wasm/expr.ts';
import type { Flags } from './flags.ts';
import type { Size } from './int.ts';

/** Traps that an instruction raises itself. */
export type OwnTrap =
  | 'Int3'
  | 'Int1'
  | 'Interrupt'
  | 'Syscall'
  | 'GeneralProtection'
  | 'InvalidOpcode'
  | 'DivideError'
  | 'FpuError';

/** General registers with a meaning of their own, by hardware number. */
export const Gpr = {
  Rax: 0,
  Rcx: 1,
  Rdx: 2,
  Rbx: 3,
  Rsp: 4,
  Rbp: 5,
  Rsi: 6,
  Rdi: 7,
  R11: 11,
} as const;

/** A place that is read and then written; its memory has been checked for both. */
export interface Place {
  readonly value: Local;
  put(value: Expr): void;
}

/** How an access is meant beyond its address. */
export interface AccessOptions {
  /** Through SS: a bad address is #SS. */
  readonly stack?: boolean;
  /** #GP unless it lies on 16 bytes. */
  readonly aligned?: boolean;
}

export type VectorSize = 128;
export type MemorySize = Size | VectorSize;

export interface Insn {
  readonly body: Body;
  readonly flags: Flags;
  /** Which of the forms this is; for names that stand for two instructions. */
  readonly name: string;
  /** Bits of operand `i`. */
  size(i: number): Size;
  isMemory(i: number): boolean;

  /** Value of a general register, memory or immediate operand. */
  read(i: number): Local;
  write(i: number, value: Expr): void;
  /** Reads operand `i` and makes sure that it can be written. */
  modify(i: number): Place;
  /** Bits of a vector operand: 64 of an MMX register, 128 of an XMM register, or what memory holds. */
  vectorBits(i: number): number;
  /** Operand `i` is an MMX register. */
  isMmx(i: number): boolean;
  /** Takes the x87 stack for MMX, which the end of every MMX instruction does by itself. */
  takeStack(): void;
  /** A vector operand, zeros above what memory or an MMX register holds. */
  vector(i: number, options?: AccessOptions): Local;
  /** Replaces an XMM register, an MMX register or memory. */
  putVector(i: number, value: Expr, options?: AccessOptions): void;
  /** Replaces the low end of an XMM register, or memory, by an i32 or i64. */
  putLow(i: number, value: Expr): void;
  /** Address in linear memory of the state of register operand `i`. */
  slot(i: number): Expr;

  /** Address of the memory operand without segment base. */
  address(): Expr;
  /** The same with it. */
  linear(): Local;
  /** An implied memory operand at an offset: with the segment base and the address size. */
  implied(offset: Expr): Local;
  /** The second immediate of ENTER. */
  secondImmediate(): Expr;
  gpr(number: number, size: Size): Expr;
  setGpr(number: number, size: Size, value: Expr): void;
  load(address: Expr, size: MemorySize, options?: AccessOptions): Local;
  store(address: Expr, size: MemorySize, value: Expr, options?: AccessOptions): void;
  /** Makes sure that `bytes` at an address can be written. Answers where they are in linear memory. */
  writable(address: Expr, bytes: number, options?: AccessOptions): { at: Local; done(): void };
  /** What lies at an address of linear memory that `writable` or `readable` has found. */
  loaded(at: Expr, size: MemorySize): Local;
  /** Hands a value to the `host` routine that follows. */
  scratch(value: Expr): void;
  readable(address: Expr, bytes: number, options?: AccessOptions): Local;

  /** RIP of this and of the next instruction. */
  readonly ip: Expr;
  readonly nextIp: Expr;
  /** Goes to the direct target. */
  jump(): void;
  /** Goes to an address. */
  jumpTo(target: Expr): void;
  /** Leaves the instruction unfinished. */
  trap(kind: OwnTrap): void;
  /** Says that every way out has been given: nothing follows. */
  ends(): void;
  /** A segment register by hardware number. */
  selector(number: number): Expr;
  /** Goes on with the next instruction; the end of every row that does not say otherwise. */
  advance(): void;
  /** Done, but the engine must look before the next instruction. */
  leave(): void;

  /** String instructions: what repeats them. */
  readonly repeat: 'none' | 'rep' | 'repne';
  /** Address of a string operand, with RSI or RDI. */
  stringAddress(register: number): Local;
  /** RSI or RDI goes on by one element; RCX counts down. All with the address size. */
  stepString(register: number, bytes: number): void;
  /** One iteration is done: goes on, or begins the next one. */
  again(stop: Expr | null): void;
  /** Goes on if RCX is 0. */
  skipIfDone(): void;

  /** Calls the TypeScript routine of that name; it may have left the instruction unfinished. */
  host(routine: string): void;
}

/** One row: what an instruction does. */
export type Row = (insn: Insn) => void;
/** Rows by iced-x86's mnemonic, or by the name of one form where a mnemonic means two things. */
export type Rows = Readonly<Record<string, Row>>;
