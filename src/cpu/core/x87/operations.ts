/** Arithmetic of x87 on registers (SDM vol. 1, 8.3 to 8.5). */

import { bitLength, Flag, integerRoot, Rounding, shiftRounded } from '../float/format.ts';
import {
  type Control,
  type ExtendedNumber,
  type ExtendedResult,
  exact,
  INDEFINITE,
  infinite,
  nothing,
  quiet,
  roundExtended,
  SIGN_BIT,
} from './extended.ts';

export type Operation = (x: ExtendedNumber, y: ExtendedNumber, control: Control) => ExtendedResult;

export const invalid = (): ExtendedResult => exact(INDEFINITE, Flag.invalid);

const isNan = ({ kind }: ExtendedNumber): boolean => kind === 'quiet' || kind === 'signalling';

/** Of two NaNs a quiet one beats a signalling one, then the larger significand, then the positive one. */
const chosenNan = (x: ExtendedNumber, y: ExtendedNumber): ExtendedNumber => {
  if (!isNan(y)) return x;
  if (!isNan(x)) return y;
  if (x.kind !== y.kind) return x.kind === 'quiet' ? x : y;
  if (x.mantissa !== y.mantissa) return x.mantissa > y.mantissa ? x : y;
  return x.sign ? y : x;
};

/** What special operands come to; undefined where both are numbers. */
export const special = (x: ExtendedNumber, y: ExtendedNumber): ExtendedResult | undefined => {
  if (x.kind === 'unsupported' || y.kind === 'unsupported') return invalid();
  if (!isNan(x) && !isNan(y)) return undefined;
  const signals = x.kind === 'signalling' || y.kind === 'signalling';
  return exact(quiet(chosenNan(x, y).bits), signals ? Flag.invalid : 0);
};

const denormals = (...operands: readonly ExtendedNumber[]): number =>
  operands.some(({ denormal }) => denormal) ? Flag.denormal : 0;

const withFlags = (result: ExtendedResult, flags: number): ExtendedResult => ({
  ...result,
  flags: result.flags | flags,
});

const sum: Operation = (x, y, control) => {
  const flags = denormals(x, y);
  if (x.kind === 'infinity' && y.kind === 'infinity' && x.sign !== y.sign) return invalid();
  if (x.kind === 'infinity') return exact(x.bits, flags);
  if (y.kind === 'infinity') return exact(y.bits, flags);
  const exponent = Math.min(x.exponent, y.exponent);
  const aligned = ({ mantissa, exponent: own, sign }: ExtendedNumber): bigint => {
    const magnitude = mantissa << BigInt(own - exponent);
    return sign ? -magnitude : magnitude;
  };
  const total = aligned(x) + aligned(y);
  if (total === 0n) {
    const sign = x.sign === y.sign ? x.sign : control.mode === Rounding.down;
    return exact(nothing(sign), flags);
  }
  const sign = total < 0n;
  return withFlags(roundExtended(sign, sign ? -total : total, exponent, false, control), flags);
};

export const add: Operation = (x, y, control) => special(x, y) ?? sum(x, y, control);

export const subtract: Operation = (x, y, control) =>
  special(x, y) ?? sum(x, { ...y, sign: !y.sign, bits: y.bits ^ SIGN_BIT }, control);

export const multiply: Operation = (x, y, control) => {
  const found = special(x, y);
  if (found !== undefined) return found;
  const sign = x.sign !== y.sign;
  const flags = denormals(x, y);
  const unbounded = x.kind === 'infinity' || y.kind === 'infinity';
  const empty = x.kind === 'zero' || y.kind === 'zero';
  if (unbounded && empty) return invalid();
  if (unbounded) return exact(infinite(sign), flags);
  if (empty) return exact(nothing(sign), flags);
  const product = x.mantissa * y.mantissa;
  return withFlags(roundExtended(sign, product, x.exponent + y.exponent, false, control), flags);
};

export const divide: Operation = (x, y, control) => {
  const found = special(x, y);
  if (found !== undefined) return found;
  const sign = x.sign !== y.sign;
  const flags = denormals(x, y);
  if (x.kind === y.kind && x.kind !== 'finite') return invalid();
  if (x.kind === 'infinity') return exact(infinite(sign), flags);
  if (y.kind === 'zero') return exact(infinite(sign), Flag.divideByZero);
  if (y.kind === 'infinity' || x.kind === 'zero') return exact(nothing(sign), flags);
  const shift = Math.max(0, 67 + bitLength(y.mantissa) - bitLength(x.mantissa));
  const dividend = x.mantissa << BigInt(shift);
  const quotient = dividend / y.mantissa;
  const sticky = quotient * y.mantissa !== dividend;
  const exponent = x.exponent - y.exponent - shift;
  return withFlags(roundExtended(sign, quotient, exponent, sticky, control), flags);
};

const reversed =
  (operation: Operation): Operation =>
  (x, y, control) =>
    operation(y, x, control);

export const subtractReversed = reversed(subtract);
export const divideReversed = reversed(divide);

export const squareRoot = (x: ExtendedNumber, control: Control): ExtendedResult => {
  const found = special(x, x);
  if (found !== undefined) return found;
  if (x.kind === 'zero') return exact(x.bits);
  if (x.sign) return invalid();
  if (x.kind === 'infinity') return exact(x.bits);
  let shift = Math.max(0, 134 - bitLength(x.mantissa));
  if ((x.exponent - shift) % 2 !== 0) shift++;
  const square = x.mantissa << BigInt(shift);
  const root = integerRoot(square);
  const sticky = root * root !== square;
  const exponent = (x.exponent - shift) / 2;
  return withFlags(roundExtended(false, root, exponent, sticky, control), denormals(x));
};

/** FRNDINT: to an integer, whatever the precision. */
export const toWhole = (x: ExtendedNumber, control: Control): ExtendedResult => {
  const found = special(x, x);
  if (found !== undefined) return found;
  if (x.kind !== 'finite') return exact(x.bits);
  const { value, inexact, up } = shiftRounded(x.mantissa, -x.exponent, false, x.sign, control.mode);
  const flags = (inexact ? Flag.inexact : 0) | denormals(x);
  if (x.exponent >= 0) return exact(x.bits, flags);
  if (value === 0n) return { bits: nothing(x.sign), flags, up };
  const whole = { ...control, precision: 64 };
  return { bits: roundExtended(x.sign, value, 0, false, whole).bits, flags, up };
};

/** FSCALE: x * 2^(y cut to an integer). */
export const scale: Operation = (x, y, control) => {
  const found = special(x, y);
  if (found !== undefined) return found;
  const flags = denormals(x, y);
  if (y.kind === 'infinity') {
    if (y.sign ? x.kind === 'infinity' : x.kind === 'zero') return invalid();
    return exact(y.sign ? nothing(x.sign) : infinite(x.sign), flags);
  }
  if (x.kind !== 'finite') return exact(x.bits, flags);
  // Beyond 2^16 all is overflow or underflow.
  const magnitude = y.exponent > 0 ? 65535n : y.mantissa >> BigInt(-y.exponent);
  const steps = Number(magnitude > 65535n ? 65535n : magnitude);
  const exponent = x.exponent + (y.sign ? -steps : steps);
  const whole = { ...control, precision: 64 };
  return withFlags(roundExtended(x.sign, x.mantissa, exponent, false, whole), flags);
};

/** -1, 0, 1, or undefined where they have no order. */
export const order = (x: ExtendedNumber, y: ExtendedNumber): number | undefined => {
  if (x.kind === 'unsupported' || y.kind === 'unsupported' || isNan(x) || isNan(y))
    return undefined;
  const side = (v: ExtendedNumber): number => (v.kind === 'zero' ? 0 : v.sign ? -1 : 1);
  if (side(x) !== side(y) || side(x) === 0) return Math.sign(side(x) - side(y));
  // A pseudo-denormal's exponent field reads as 0 where it counts as 1.
  const rank = ({ exponent, mantissa }: ExtendedNumber): bigint =>
    (BigInt(exponent + 20000) << 64n) | mantissa;
  const [a, b] = [rank(x), rank(y)];
  const larger = a === b ? 0 : a > b ? 1 : -1;
  return x.sign ? -larger : larger;
};
