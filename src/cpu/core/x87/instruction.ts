/** What an x87 instruction is, and what most of them share. */
import { DOUBLE, SINGLE } from '../float/format.ts';
import {
  type ExtendedResult,
  exact,
  fromInteger,
  INDEFINITE,
  takeApart,
  widen,
} from './extended.ts';
import type { Fpu } from './fpu.ts';
import type { Operation } from './operations.ts';

/** What an instruction gets besides the stack. */
export interface X87Input {
  /** Number of the ST(i) operand. */
  readonly i: number;
  /** The memory operand's bits. */
  readonly memory: bigint;
}

/** Answers what goes to memory; undefined = memory stays as it is. */
export type X87Action = (fpu: Fpu, input: X87Input) => bigint | undefined;

export interface X87Instruction {
  readonly run: X87Action;
  /** Reads or writes its memory operand; `state` = environment or whole state, done by the routine itself. */
  readonly memory?: 'in' | 'out';
  /** Does not wait for a pending exception. */
  readonly noWait?: boolean;
}

/** What an instruction answers that stores nothing. */
export const none = undefined;

/** `to` op `from`, into `to`; then pops, if the instruction does. */
export const compute =
  (
    operation: Operation,
    to: (input: X87Input) => number,
    from: (fpu: Fpu, input: X87Input) => ExtendedResult | null,
    pops: boolean,
  ): X87Action =>
  (fpu, input) => {
    const target = to(input);
    const source = from(fpu, input);
    let done: boolean;
    if (source === null || fpu.isEmpty(target)) {
      done = fpu.underflow();
      if (done) fpu.put(target, INDEFINITE);
    } else {
      const result = operation(fpu.number(target), takeApart(source.bits), fpu.control);
      done = fpu.deliver(target, { ...result, flags: result.flags | source.flags });
    }
    if (done && pops) fpu.pop();
    return none;
  };

export const zeroth = (): number => 0;
export const ith = ({ i }: X87Input): number => i;
export const register =
  (which: (input: X87Input) => number) =>
  (fpu: Fpu, input: X87Input): ExtendedResult | null =>
    fpu.isEmpty(which(input)) ? null : exact(fpu.bits(which(input)));

/** Instructions by the name of their form. */
export type X87Table = Record<string, X87Instruction>;

/** A memory operand, by the end of its form's name. */
export const SOURCES: Readonly<Record<string, (bits: bigint) => ExtendedResult>> = {
  m32fp: (bits) => widen(SINGLE, bits),
  m64fp: (bits) => widen(DOUBLE, bits),
  m80fp: (bits) => exact(bits),
  m16int: (bits) => exact(fromInteger(BigInt.asIntN(16, bits))),
  m32int: (bits) => exact(fromInteger(BigInt.asIntN(32, bits))),
  m64int: (bits) => exact(fromInteger(BigInt.asIntN(64, bits))),
};
export const FLOATS = ['m32fp', 'm64fp'];
export const INTEGERS = ['m16int', 'm32int'];

/** Pushes what the memory operand, if any, comes to. */
export const pushing =
  (value: (bits: bigint) => ExtendedResult): X87Action =>
  (fpu, { memory }) => {
    fpu.push(value(memory));
    return none;
  };
