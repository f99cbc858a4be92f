/** Values of an operand's size: up to 32 bits an i32 with the upper bits clear, 64 bits an i64. */
import {
  type Expr,
  extendS,
  extendU,
  I32,
  I64,
  type IntOps,
  i32,
  signExtend32,
  wrap,
} from '../wasm/expr.ts';

export type Size = 8 | 16 | 32 | 64;

export const intOf = (size: Size): IntOps => (size === 64 ? I64 : I32);

export const constant = (size: Size, value: bigint): Expr =>
  intOf(size).constant(BigInt.asUintN(size, value));

/** Clears what lies above the size, after arithmetic. */
export const trimmed = (size: Size, x: Expr): Expr =>
  size === 8 ? I32.and(x, i32(0xff)) : size === 16 ? I32.and(x, i32(0xffff)) : x;

/** As a signed i32, for sizes up to 32. */
export const signed32 = (size: Size, x: Expr): Expr =>
  size === 8 || size === 16 ? signExtend32[size](x) : x;

/** As a signed i64. */
export const signExtended = (size: Size, x: Expr): Expr =>
  size === 64 ? x : extendS(signed32(size, x));

/** As an unsigned i64. */
export const zeroExtended = (size: Size, x: Expr): Expr => (size === 64 ? x : extendU(x));

/** As an unsigned i32; loses bits of a 64-bit value. */
export const low32 = (size: Size, x: Expr): Expr => (size === 64 ? wrap(x) : x);

/** From an i64, cut to the size. */
export const narrowed = (size: Size, x: Expr): Expr => (size === 64 ? x : trimmed(size, wrap(x)));

/** From one size to another, with or without sign. */
export const resized = (from: Size, to: Size, x: Expr, sign: boolean): Expr => {
  if (to <= from) return trimmed(to, to === 64 ? x : low32(from, x));
  if (to === 64) return sign ? signExtended(from, x) : zeroExtended(from, x);
  return sign ? trimmed(to, signed32(from, x)) : x;
};

/** The top bit, 0 or 1 as an i32. */
export const topBit = (size: Size, x: Expr): Expr =>
  size === 64 ? wrap(I64.shrU(x, I64.constant(63n))) : I32.and(I32.shrU(x, i32(size - 1)), i32(1));
