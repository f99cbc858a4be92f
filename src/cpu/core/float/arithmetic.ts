/** The operations of SSE, by the manual's rules for special operands (SDM vol. 1, 4.8.3 and 11.5.2). */
import {
  bitLength,
  Flag,
  type Format,
  indefinite,
  infinity,
  integerRoot,
  quieted,
  type Rounded,
  Rounding,
  type RoundingContext,
  round,
  roundInteger,
  type Unpacked,
  unpack,
  zero,
} from './format.ts';

/** What MXCSR says. */
export interface FloatContext extends RoundingContext {
  /** Denormal operands count as 0. */
  readonly denormalsAreZero: boolean;
}

export type BinaryOperation = (format: Format, x: bigint, y: bigint, c: FloatContext) => Rounded;
export type UnaryOperation = (format: Format, x: bigint, c: FloatContext) => Rounded;

export const operand = (format: Format, bits: bigint, context: FloatContext): Unpacked => {
  const x = unpack(format, bits);
  if (!x.denormal || !context.denormalsAreZero) return x;
  return { ...x, kind: 'zero', mantissa: 0n, denormal: false, bits: zero(format, x.sign) };
};

const isNan = ({ kind }: Unpacked): boolean => kind === 'quiet' || kind === 'signalling';

/** The first operand that is a NaN, made quiet. */
const propagated = (format: Format, ...operands: readonly Unpacked[]): Rounded | undefined => {
  const nan = operands.find(isNan);
  if (nan === undefined) return undefined;
  const signals = operands.some(({ kind }) => kind === 'signalling');
  return { bits: quieted(format, nan.bits), flags: signals ? Flag.invalid : 0 };
};

const invalid = (format: Format): Rounded => ({ bits: indefinite(format), flags: Flag.invalid });

const denormalFlag = (...operands: readonly Unpacked[]): number =>
  operands.some(({ denormal }) => denormal) ? Flag.denormal : 0;

const exactly = (bits: bigint, flags: number): Rounded => ({ bits, flags });

const sum = (format: Format, x: Unpacked, y: Unpacked, context: FloatContext): Rounded => {
  const nan = propagated(format, x, y);
  if (nan !== undefined) return nan;
  const flags = denormalFlag(x, y);
  if (x.kind === 'infinity' && y.kind === 'infinity' && x.sign !== y.sign) return invalid(format);
  if (x.kind === 'infinity') return exactly(x.bits, flags);
  if (y.kind === 'infinity') return exactly(y.bits, flags);
  const exponent = Math.min(x.exponent, y.exponent);
  const aligned = (v: Unpacked): bigint => {
    const magnitude = v.mantissa << BigInt(v.exponent - exponent);
    return v.sign ? -magnitude : magnitude;
  };
  const total = aligned(x) + aligned(y);
  if (total === 0n) {
    const sign = x.sign === y.sign ? x.sign : context.mode === Rounding.down;
    return exactly(zero(format, sign), flags);
  }
  const sign = total < 0n;
  const result = round(format, sign, sign ? -total : total, exponent, false, context);
  return exactly(result.bits, result.flags | flags);
};

export const add: BinaryOperation = (format, x, y, context) =>
  sum(format, operand(format, x, context), operand(format, y, context), context);

const negated = (format: Format, y: Unpacked): Unpacked =>
  isNan(y) ? y : { ...y, sign: !y.sign, bits: y.bits ^ zero(format, true) };

export const subtract: BinaryOperation = (format, x, y, context) =>
  sum(format, operand(format, x, context), negated(format, operand(format, y, context)), context);

export const multiply: BinaryOperation = (format, first, second, context) => {
  const x = operand(format, first, context);
  const y = operand(format, second, context);
  const nan = propagated(format, x, y);
  if (nan !== undefined) return nan;
  const sign = x.sign !== y.sign;
  const flags = denormalFlag(x, y);
  const infinite = x.kind === 'infinity' || y.kind === 'infinity';
  const nothing = x.kind === 'zero' || y.kind === 'zero';
  if (infinite && nothing) return invalid(format);
  if (infinite) return exactly(infinity(format, sign), flags);
  if (nothing) return exactly(zero(format, sign), flags);
  const exponent = x.exponent + y.exponent;
  const result = round(format, sign, x.mantissa * y.mantissa, exponent, false, context);
  return exactly(result.bits, result.flags | flags);
};

export const divide: BinaryOperation = (format, first, second, context) => {
  const x = operand(format, first, context);
  const y = operand(format, second, context);
  const nan = propagated(format, x, y);
  if (nan !== undefined) return nan;
  const sign = x.sign !== y.sign;
  const flags = denormalFlag(x, y);
  if (x.kind === y.kind && x.kind !== 'finite') return invalid(format);
  if (x.kind === 'infinity') return exactly(infinity(format, sign), flags);
  if (y.kind === 'zero') return exactly(infinity(format, sign), Flag.divideByZero);
  if (y.kind === 'infinity' || x.kind === 'zero') return exactly(zero(format, sign), flags);
  // Two bits more than the format keeps, and whether anything is left.
  const wanted = format.fractionBits + 3;
  const shift = Math.max(0, wanted + bitLength(y.mantissa) - bitLength(x.mantissa));
  const dividend = x.mantissa << BigInt(shift);
  const quotient = dividend / y.mantissa;
  const sticky = quotient * y.mantissa !== dividend;
  const exponent = x.exponent - y.exponent - shift;
  const result = round(format, sign, quotient, exponent, sticky, context);
  return exactly(result.bits, result.flags | flags);
};

export const squareRoot: UnaryOperation = (format, bits, context) => {
  const x = operand(format, bits, context);
  const nan = propagated(format, x);
  if (nan !== undefined) return nan;
  if (x.kind === 'zero') return exactly(x.bits, 0);
  if (x.sign) return invalid(format);
  if (x.kind === 'infinity') return exactly(x.bits, 0);
  const wanted = 2 * (format.fractionBits + 3);
  let shift = Math.max(0, wanted - bitLength(x.mantissa));
  if ((x.exponent - shift) % 2 !== 0) shift++;
  const square = x.mantissa << BigInt(shift);
  const root = integerRoot(square);
  const sticky = root * root !== square;
  const result = round(format, false, root, (x.exponent - shift) / 2, sticky, context);
  return exactly(result.bits, result.flags | denormalFlag(x));
};

/** -1, 0, 1, or undefined where one is a NaN. */
export const order = (x: Unpacked, y: Unpacked): number | undefined => {
  if (isNan(x) || isNan(y)) return undefined;
  const key = (v: Unpacked): number => (v.kind === 'zero' ? 0 : v.sign ? -1 : 1);
  if (key(x) !== key(y) || key(x) === 0) return Math.sign(key(x) - key(y));
  // Of one sign, numbers are in the order of their bits.
  const larger = x.bits === y.bits ? 0 : x.bits > y.bits ? 1 : -1;
  return x.sign ? -larger : larger;
};

/** MIN and MAX: the second operand unless the first is properly less (or more). */
const extreme =
  (wanted: -1 | 1): BinaryOperation =>
  (format, first, second, context) => {
    const x = operand(format, first, context);
    const y = operand(format, second, context);
    const found = order(x, y);
    if (found === undefined) return exactly(y.bits, Flag.invalid);
    return exactly(found === wanted ? x.bits : y.bits, denormalFlag(x, y));
  };

export const minimum = extreme(-1);
export const maximum = extreme(1);

export interface Comparison {
  readonly order: number | undefined;
  readonly flags: number;
}

/** @param quietSignals whether a quiet NaN is invalid too */
export const compare = (
  format: Format,
  first: bigint,
  second: bigint,
  quietSignals: boolean,
  context: FloatContext,
): Comparison => {
  const x = operand(format, first, context);
  const y = operand(format, second, context);
  const found = order(x, y);
  if (found !== undefined) return { order: found, flags: denormalFlag(x, y) };
  const signals = quietSignals || x.kind === 'signalling' || y.kind === 'signalling';
  return { order: undefined, flags: signals ? Flag.invalid : 0 };
};

/** From one format to another. */
export const convert = (from: Format, to: Format, bits: bigint, context: FloatContext): Rounded => {
  const x = operand(from, bits, context);
  if (isNan(x)) {
    const shift = BigInt(to.fractionBits - from.fractionBits);
    const fraction = shift >= 0n ? x.mantissa << shift : x.mantissa >> -shift;
    const flags = x.kind === 'signalling' ? Flag.invalid : 0;
    return exactly(quieted(to, infinity(to, x.sign) | fraction), flags);
  }
  if (x.kind === 'infinity') return exactly(infinity(to, x.sign), 0);
  if (x.kind === 'zero') return exactly(zero(to, x.sign), 0);
  const result = round(to, x.sign, x.mantissa, x.exponent, false, context);
  return exactly(result.bits, result.flags | denormalFlag(x));
};

export const fromInteger = (format: Format, value: bigint, context: FloatContext): Rounded => {
  if (value === 0n) return exactly(0n, 0);
  const sign = value < 0n;
  return round(format, sign, sign ? -value : value, 0, false, context);
};

/** The integer indefinite value is the most negative one. Conversions to integers do not tell of denormals. */
export const toInteger = (
  format: Format,
  bits: bigint,
  width: 32 | 64,
  mode: Rounding,
  context: FloatContext,
): Rounded => {
  const x = operand(format, bits, context);
  const indefiniteInteger = exactly(1n << BigInt(width - 1), Flag.invalid);
  if (x.kind === 'zero') return exactly(0n, 0);
  if (x.kind !== 'finite' || x.exponent > 64) return indefiniteInteger;
  const { value, inexact } = roundInteger(x, mode);
  const signed = x.sign ? -value : value;
  if (BigInt.asIntN(width, signed) !== signed) return indefiniteInteger;
  return exactly(BigInt.asUintN(width, signed), inexact ? Flag.inexact : 0);
};
