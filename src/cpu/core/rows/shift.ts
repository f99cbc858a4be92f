/** Shifts and rotates. Counts are taken modulo 32, or 64; a count of 0 leaves every flag. */
import type { Insn, Place, Row, Rows } from '../emit/insn.ts';
import {
  intOf,
  low32,
  narrowed,
  type Size,
  signExtended,
  topBit,
  trimmed,
  zeroExtended,
} from '../emit/int.ts';
import type { Local } from '../wasm/body.ts';
import { type Expr, extendU, I32, I64, i32, i64, wrap } from '../wasm/expr.ts';

/** The count as an i32. The forms by one have it as an immediate. */
const countOf = (e: Insn, operand: number, size: Size): Local =>
  e.body.let(I32.and(e.read(operand), i32(size === 64 ? 63 : 31)));

const at = (x: Expr, count: Expr): Expr => wrap(I64.and(I64.shrU(x, extendU(count)), i64(1n)));

interface Shifted {
  readonly result: Expr;
  readonly cf: Expr;
  readonly of: Expr;
}

/** `compute` gets the value in 64 bits and a count that is not 0. */
const shift =
  (
    compute: (size: Size, x: Local, count: Local, e: Insn) => Shifted,
    wide: typeof zeroExtended,
  ): Row =>
  (e) => {
    const size = e.size(0);
    const count = countOf(e, 1, size);
    const place = e.modify(0);
    const x = e.body.let(wide(size, place.value));
    writeUnlessZero(e, size, place, count, () => {
      const { result, cf, of } = compute(size, x, count, e);
      const r = e.body.let(narrowed(size, result));
      const carry = e.body.let(cf);
      const overflow = e.body.let(of);
      place.put(r);
      e.flags.shifted(size, r, carry, overflow);
    });
  };

/** With a count of 0 only the upper half of a 32-bit register changes. */
const writeUnlessZero = (
  e: Insn,
  size: Size,
  place: Place,
  count: Expr,
  write: () => void,
): void => {
  const rewrite = size === 32 && !e.isMemory(0) ? () => place.put(place.value) : undefined;
  e.body.if(count, write, rewrite);
};

const left = (size: Size, x: Local, count: Local): Shifted => {
  const result = I64.shl(x, extendU(count));
  const cf = size === 64 ? at(x, I32.sub(i32(64), count)) : at(result, i32(size));
  return { result, cf, of: I32.xor(bitAt(result, size - 1), cf) };
};

const bitAt = (x: Expr, n: number): Expr => wrap(I64.and(I64.shrU(x, i64(BigInt(n))), i64(1n)));

const right = (size: Size, x: Local, count: Local): Shifted => ({
  result: I64.shrU(x, extendU(count)),
  cf: at(x, I32.sub(count, i32(1))),
  of: bitAt(x, size - 1),
});

const arithmeticRight = (_size: Size, x: Local, count: Local): Shifted => ({
  result: I64.shrS(x, extendU(count)),
  cf: wrap(I64.and(I64.shrS(x, extendU(I32.sub(count, i32(1)))), i64(1n))),
  of: i32(0),
});

const rotated = (size: Size, x: Expr, count: Expr, toLeft: boolean): Expr => {
  const int = intOf(size);
  if (size >= 32) return int[toLeft ? 'rotl' : 'rotr'](x, size === 64 ? extendU(count) : count);
  const by = I32.and(toLeft ? count : I32.sub(i32(size), count), i32(size - 1));
  return trimmed(size, I32.or(I32.shl(x, by), I32.shrU(x, I32.sub(i32(size), by))));
};

/** ROL and ROR change CF and OF only. */
const rotate =
  (toLeft: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const count = countOf(e, 1, size);
    const place = e.modify(0);
    writeUnlessZero(e, size, place, count, () => {
      const r = e.body.let(rotated(size, place.value, count, toLeft));
      place.put(r);
      const top = topBit(size, r);
      const bottom = I32.and(low32(size, r), i32(1));
      const below = topBit(size, intOf(size).shl(r, intOf(size).constant(1n)));
      if (toLeft) e.flags.setCarryAndOverflow(bottom, I32.xor(top, bottom));
      else e.flags.setCarryAndOverflow(top, I32.xor(top, below));
    });
  };

/** Value and CF rotated together to the left by `count` of size + 1; sizes up to 32. */
const throughCarry = (size: Size, x: Expr, cf: Expr, count: Expr): Expr => {
  const both = I64.or(I64.shl(extendU(cf), i64(BigInt(size))), extendU(x));
  const back = I32.sub(i32(size + 1), count);
  return I64.or(I64.shl(both, extendU(count)), I64.shrU(both, extendU(back)));
};

/** The same with 64 bits, in either direction; `count` is not 0. A shift by 64 would be one by 0, hence two. */
const throughCarry64 = (x: Expr, cf: Expr, count: Expr, toLeft: boolean): Expr => {
  const n = extendU(count);
  const back = I64.sub(i64(64n), n);
  const one = i64(1n);
  const carry = extendU(cf);
  if (toLeft) {
    const fromCarry = I64.shl(carry, I64.sub(n, one));
    return I64.or(I64.or(I64.shl(x, n), fromCarry), I64.shrU(I64.shrU(x, one), back));
  }
  return I64.or(I64.or(I64.shrU(x, n), I64.shl(carry, back)), I64.shl(I64.shl(x, one), back));
};

interface Turned {
  readonly result: Expr;
  readonly cf: Expr;
}

const turn = (e: Insn, size: Size, x: Local, count: Local, toLeft: boolean): Turned => {
  const { cf } = e.flags;
  if (size === 64) {
    const out = toLeft ? I32.sub(i32(64), count) : I32.sub(count, i32(1));
    return { result: throughCarry64(x, cf, count, toLeft), cf: at(x, out) };
  }
  const steps = toLeft ? count : I32.sub(i32(size + 1), count);
  const whole = e.body.let(throughCarry(size, x, cf, steps));
  return { result: narrowed(size, whole), cf: bitAt(whole, size) };
};

const rotateThroughCarry =
  (toLeft: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const masked = countOf(e, 1, size);
    // 8 and 16 bits: modulo 9 and 17
    const count = e.body.let(size < 32 ? I32.remU(masked, i32(size + 1)) : masked);
    const place = e.modify(0);
    writeUnlessZero(e, size, place, masked, () => {
      const turned = turn(e, size, place.value, count, toLeft);
      const carry = e.body.let(turned.cf);
      const r = e.body.let(turned.result);
      place.put(r);
      const top = topBit(size, r);
      const below = topBit(size, intOf(size).shl(r, intOf(size).constant(1n)));
      e.flags.setCarryAndOverflow(carry, I32.xor(top, toLeft ? carry : below));
    });
  };

/** SHLD and SHRD: bits come in from the second operand. */
const double =
  (toLeft: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const count = countOf(e, 2, size);
    const y = e.read(1);
    const place = e.modify(0);
    writeUnlessZero(e, size, place, count, () => {
      const x = place.value;
      const { result, cf } = (toLeft ? doubleLeft : doubleRight)(size, x, y, count);
      const r = e.body.let(narrowed(size, result));
      const carry = e.body.let(cf);
      place.put(r);
      e.flags.shifted(size, r, carry, topBit(size, intOf(size).xor(r, x)));
    });
  };

const doubleLeft = (size: Size, x: Expr, y: Expr, count: Expr): Omit<Shifted, 'of'> => {
  const back = extendU(I32.sub(i32(size), count));
  if (size === 64) {
    const cf = at(x, I32.sub(i32(64), count));
    return { result: I64.or(I64.shl(x, extendU(count)), I64.shrU(y, back)), cf };
  }
  const both = I64.or(I64.shl(extendU(x), i64(BigInt(size))), extendU(y));
  const moved = I64.shl(both, extendU(count));
  return {
    result: I64.shrU(moved, i64(BigInt(size))),
    cf: at(extendU(x), I32.sub(i32(size), count)),
  };
};

const doubleRight = (size: Size, x: Expr, y: Expr, count: Expr): Omit<Shifted, 'of'> => {
  const out = I32.sub(count, i32(1));
  if (size === 64) {
    const back = extendU(I32.sub(i32(64), count));
    return { result: I64.or(I64.shrU(x, extendU(count)), I64.shl(y, back)), cf: at(x, out) };
  }
  const both = I64.or(I64.shl(extendU(y), i64(BigInt(size))), extendU(x));
  return { result: I64.shrU(both, extendU(count)), cf: at(both, out) };
};

/** BMI2: without flags, the count in a register or immediate. */
const plain =
  (compute: (size: Size, x: Expr, count: Expr) => Expr): Row =>
  (e) => {
    const size = e.size(0);
    const x = e.read(1);
    const count = e.read(2);
    const narrow = low32(e.size(2), count);
    e.write(0, compute(size, x, e.body.let(I32.and(narrow, i32(size - 1)))));
  };

const by = (size: Size, count: Expr): Expr => (size === 64 ? extendU(count) : count);

export const SHIFT: Rows = {
  Shl: shift(left, zeroExtended),
  Sal: shift(left, zeroExtended),
  Shr: shift(right, zeroExtended),
  Sar: shift(arithmeticRight, signExtended),
  Rol: rotate(true),
  Ror: rotate(false),
  Rcl: rotateThroughCarry(true),
  Rcr: rotateThroughCarry(false),
  Shld: double(true),
  Shrd: double(false),
  Shlx: plain((size, x, count) => intOf(size).shl(x, by(size, count))),
  Shrx: plain((size, x, count) => intOf(size).shrU(x, by(size, count))),
  Sarx: plain((size, x, count) => intOf(size).shrS(x, by(size, count))),
  Rorx: plain((size, x, count) => intOf(size).rotr(x, by(size, count))),
};
