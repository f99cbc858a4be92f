import { Gpr, type Insn, type Row, type Rows } from '../emit/insn.ts';
import { narrowed, type Size, signExtended, zeroExtended } from '../emit/int.ts';
import type { Local } from '../wasm/body.ts';
import { type Expr, I32, I64, i32, i64 } from '../wasm/expr.ts';

const LOW = i64(0xffff_ffffn);
const HALF = i64(32n);

/** Upper 64 bits of the unsigned 128-bit product, from four 32-bit products. */
const highUnsigned = (e: Insn, x: Local, y: Local): Local => {
  const { body } = e;
  const low = (v: Expr): Expr => I64.and(v, LOW);
  const high = (v: Expr): Expr => I64.shrU(v, HALF);
  const bottom = I64.mul(low(x), low(y));
  const middle = body.let(I64.add(I64.mul(high(x), low(y)), high(bottom)));
  const other = body.let(I64.add(I64.mul(low(x), high(y)), low(middle)));
  return body.let(I64.add(I64.add(I64.mul(high(x), high(y)), high(middle)), high(other)));
};

/** Signed: less the other factor for each negative one. */
const highSigned = (e: Insn, x: Local, y: Local): Local => {
  const part = (sign: Expr, other: Expr): Expr => I64.and(I64.shrS(sign, i64(63n)), other);
  const unsigned = highUnsigned(e, x, y);
  return e.body.let(I64.sub(I64.sub(unsigned, part(x, y)), part(y, x)));
};

interface Product {
  readonly low: Expr;
  readonly high: Expr;
  /** The upper half says more than the sign (or than 0). */
  readonly overflow: Expr;
}

const product = (e: Insn, size: Size, x: Local, y: Local, sign: boolean): Product => {
  if (size === 64) {
    const low = e.body.let(I64.mul(x, y));
    const high = sign ? highSigned(e, x, y) : highUnsigned(e, x, y);
    const plain = sign ? I64.shrS(low, i64(63n)) : i64(0n);
    return { low, high, overflow: I64.ne(high, plain) };
  }
  const wide = sign ? signExtended : zeroExtended;
  const full = e.body.let(I64.mul(wide(size, x), wide(size, y)));
  const low = e.body.let(narrowed(size, full));
  const high = narrowed(size, I64.shrU(full, i64(BigInt(size))));
  return { low, high, overflow: I64.ne(full, wide(size, low)) };
};

/** SF, ZF, AF and PF are undefined; SF and PF follow the low half here. */
const multiplied = (e: Insn, size: Size, { low, overflow }: Product): void => {
  const out = e.body.let(overflow);
  e.flags.shifted(size, low, out, out);
};

const multiply =
  (sign: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const y = e.read(0);
    const x = e.body.let(e.gpr(Gpr.Rax, size));
    const result = product(e, size, x, y, sign);
    const low = e.body.let(result.low);
    const high = e.body.let(result.high);
    if (size === 8) e.setGpr(Gpr.Rax, 16, I32.or(low, I32.shl(high, i32(8))));
    else {
      e.setGpr(Gpr.Rax, size, low);
      e.setGpr(Gpr.Rdx, size, high);
    }
    multiplied(e, size, { ...result, low });
  };

const multiplySigned: Row = (e) => {
  if (!/_(rm?\d+)_rm?\d+/.test(e.name)) return multiply(true)(e);
  const size = e.size(0);
  const three = /_imm/.test(e.name);
  const x = e.read(1);
  const y = e.read(three ? 2 : 0);
  const result = product(e, size, x, y, true);
  e.write(0, result.low);
  multiplied(e, size, result);
};

/** MULX: no flags, the high half last. */
const mulx: Row = (e) => {
  const size = e.size(0);
  const y = e.read(2);
  const x = e.body.let(e.gpr(Gpr.Rdx, size));
  const { low, high } = product(e, size, x, y, false);
  const upper = e.body.let(high);
  e.write(1, low);
  e.write(0, upper);
};

/** #DE if `when` holds. */
const refuse = (e: Insn, when: Expr): void => e.body.if(when, () => e.trap('DivideError'));

/** Sizes up to 32: the dividend fits 64 bits. */
const divideNarrow = (e: Insn, size: 8 | 16 | 32, sign: boolean): void => {
  const wide = sign ? signExtended : zeroExtended;
  const divisor = e.body.let(wide(size, e.read(0)));
  const dividend = e.body.let(dividendOf(e, size, sign));
  refuse(e, I64.eqz(divisor));
  // -2^63 / -1 would trap in WebAssembly; it overflows anyway.
  if (sign && size === 32)
    refuse(e, I32.and(I64.eq(divisor, i64(-1n)), I64.eq(dividend, i64(-(1n << 63n)))));
  const quotient = e.body.let(I64[sign ? 'divS' : 'divU'](dividend, divisor));
  refuse(e, I64.ne(quotient, wide(size, narrowed(size, quotient))));
  const rest = e.body.let(narrowed(size, I64[sign ? 'remS' : 'remU'](dividend, divisor)));
  const result = narrowed(size, quotient);
  if (size === 8) e.setGpr(Gpr.Rax, 16, I32.or(result, I32.shl(rest, i32(8))));
  else {
    e.setGpr(Gpr.Rax, size, result);
    e.setGpr(Gpr.Rdx, size, rest);
  }
};

/** AX, DX:AX or EDX:EAX. */
const dividendOf = (e: Insn, size: 8 | 16 | 32, sign: boolean): Expr => {
  const wide = sign ? signExtended : zeroExtended;
  if (size === 8) return wide(16, e.gpr(Gpr.Rax, 16));
  if (size === 16) {
    const both = I32.or(e.gpr(Gpr.Rax, 16), I32.shl(e.gpr(Gpr.Rdx, 16), i32(16)));
    return wide(32, both);
  }
  const high = I64.shl(zeroExtended(32, e.gpr(Gpr.Rdx, 32)), HALF);
  return I64.or(high, zeroExtended(32, e.gpr(Gpr.Rax, 32)));
};

/** 128 bits by 64: by hand where the dividend fits 64 bits, which is nearly always. */
const divideWide = (e: Insn, sign: boolean): void => {
  const divisor = e.read(0);
  refuse(e, I64.eqz(divisor));
  const low = e.body.let(e.gpr(Gpr.Rax, 64));
  const high = e.gpr(Gpr.Rdx, 64);
  const fits = I64.eq(high, sign ? I64.shrS(low, i64(63n)) : i64(0n));
  // A divisor of -1 can overflow; the long way knows.
  const plain = sign ? I32.and(fits, I64.ne(divisor, i64(-1n))) : fits;
  e.body.if(
    plain,
    () => {
      const rest = e.body.let(I64[sign ? 'remS' : 'remU'](low, divisor));
      e.setGpr(Gpr.Rax, 64, I64[sign ? 'divS' : 'divU'](low, divisor));
      e.setGpr(Gpr.Rdx, 64, rest);
    },
    () => {
      e.scratch(divisor);
      e.host(sign ? 'divideSigned' : 'divideUnsigned');
    },
  );
};

const divide =
  (sign: boolean): Row =>
  (e) => {
    const size = e.size(0);
    if (size === 64) divideWide(e, sign);
    else divideNarrow(e, size, sign);
  };

export const MULTIPLY: Rows = {
  Mul: multiply(false),
  Imul: multiplySigned,
  Mulx: mulx,
  Div: divide(false),
  Idiv: divide(true),
};
