/** Binary floating point (IEEE 754) in exact integers: numbers taken apart, and rounded back. */

export interface Format {
  readonly exponentBits: number;
  /** Without the integer bit. */
  readonly fractionBits: number;
}

export const SINGLE: Format = { exponentBits: 8, fractionBits: 23 };
export const DOUBLE: Format = { exponentBits: 11, fractionBits: 52 };

/** Exception flags, as in MXCSR and the x87 status word. */
export const Flag = {
  invalid: 1,
  denormal: 2,
  divideByZero: 4,
  overflow: 8,
  underflow: 16,
  inexact: 32,
} as const;

/** The rounding control of MXCSR and the x87 control word. */
export const Rounding = { nearest: 0, down: 1, up: 2, zero: 3 } as const;
export type Rounding = (typeof Rounding)[keyof typeof Rounding];

/** A number taken apart: `mantissa` * 2^`exponent`. */
export interface Unpacked {
  readonly kind: 'zero' | 'finite' | 'infinity' | 'quiet' | 'signalling';
  readonly sign: boolean;
  readonly exponent: number;
  readonly mantissa: bigint;
  readonly denormal: boolean;
  readonly bits: bigint;
}

/** Bits and the exceptions that came with them. */
export interface Rounded {
  readonly bits: bigint;
  readonly flags: number;
}

const biasOf = ({ exponentBits }: Format): number => 2 ** (exponentBits - 1) - 1;
const signBit = ({ exponentBits, fractionBits }: Format): bigint =>
  1n << BigInt(exponentBits + fractionBits);
const exponentMask = (format: Format): bigint => (1n << BigInt(format.exponentBits)) - 1n;
const fractionMask = (format: Format): bigint => (1n << BigInt(format.fractionBits)) - 1n;
const quietBit = (format: Format): bigint => 1n << BigInt(format.fractionBits - 1);

export const infinity = (format: Format, sign: boolean): bigint =>
  (sign ? signBit(format) : 0n) | (exponentMask(format) << BigInt(format.fractionBits));
export const zero = (format: Format, sign: boolean): bigint => (sign ? signBit(format) : 0n);
/** The default NaN: negative, quiet. */
export const indefinite = (format: Format): bigint => infinity(format, true) | quietBit(format);
export const quieted = (format: Format, bits: bigint): bigint => bits | quietBit(format);

export const unpack = (format: Format, bits: bigint): Unpacked => {
  const { fractionBits } = format;
  const sign = (bits & signBit(format)) !== 0n;
  const exponent = Number((bits >> BigInt(fractionBits)) & exponentMask(format));
  const fraction = bits & fractionMask(format);
  const common = { sign, bits, denormal: false };
  if (exponent === Number(exponentMask(format))) {
    const quiet = (fraction & quietBit(format)) !== 0n;
    const kind = fraction === 0n ? 'infinity' : quiet ? 'quiet' : 'signalling';
    return { ...common, kind, exponent: 0, mantissa: fraction };
  }
  const lowest = 1 - biasOf(format) - fractionBits;
  if (exponent === 0) {
    const kind = fraction === 0n ? 'zero' : 'finite';
    return { ...common, kind, exponent: lowest, mantissa: fraction, denormal: fraction !== 0n };
  }
  const mantissa = fraction | (1n << BigInt(fractionBits));
  return { ...common, kind: 'finite', exponent: exponent - 1 + lowest, mantissa };
};

export const bitLength = (value: bigint): number => value.toString(2).length;

/** Largest integer whose square is not above `value`. */
export const integerRoot = (value: bigint): bigint => {
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
};

/** `value` >> `shift`, rounded to an integer; whether anything was lost, and whether it was rounded up. */
export const shiftRounded = (
  value: bigint,
  shift: number,
  sticky: boolean,
  sign: boolean,
  mode: Rounding,
): { readonly value: bigint; readonly inexact: boolean; readonly up: boolean } => {
  if (shift <= 0) return { value: value << BigInt(-shift), inexact: sticky, up: false };
  const kept = value >> BigInt(shift);
  const rest = value - (kept << BigInt(shift));
  const half = 1n << BigInt(shift - 1);
  const inexact = rest !== 0n || sticky;
  const above = rest > half || (rest === half && sticky);
  const up =
    mode === Rounding.nearest
      ? above || (rest === half && !sticky && (kept & 1n) === 1n)
      : inexact && mode === (sign ? Rounding.down : Rounding.up);
  return { value: up ? kept + 1n : kept, inexact, up };
};

/** Rounds to an integer. */
export const roundInteger = (x: Unpacked, mode: Rounding) =>
  shiftRounded(x.mantissa, -x.exponent, false, x.sign, mode);

/** What rounding has to know besides the number. */
export interface RoundingContext {
  readonly mode: Rounding;
  /** Tiny results become 0 (if underflow is masked). */
  readonly flush: boolean;
  /**
   * Underflow and overflow trap. Then being tiny is enough, inexact or not; and what is inexact is the number that
   * the trap's handler would get, whose exponent has no end.
   */
  readonly underflowTraps: boolean;
  readonly overflowTraps: boolean;
}

const overflowed = (format: Format, sign: boolean, mode: Rounding, inexact: boolean): Rounded => {
  const flags = Flag.overflow | (inexact ? Flag.inexact : 0);
  const toInfinity = mode === Rounding.nearest || mode === (sign ? Rounding.down : Rounding.up);
  const bits = infinity(format, sign);
  return { bits: toInfinity ? bits : bits - 1n, flags };
};

/**
 * The number of a format next to `mantissa` * 2^`exponent` (and a little more, if `sticky`).
 * Preconditions: `mantissa` is not 0; with `sticky` it has two bits more than the format.
 */
export const round = (
  format: Format,
  sign: boolean,
  mantissa: bigint,
  exponent: number,
  sticky: boolean,
  { mode, flush, underflowTraps, overflowTraps }: RoundingContext,
): Rounded => {
  const { fractionBits } = format;
  const least = 1 - biasOf(format);
  const top = exponent + bitLength(mantissa) - 1;
  const small = top < least;
  const unbounded = shiftRounded(mantissa, top - fractionBits - exponent, sticky, sign, mode);
  // Tiny is decided after rounding as if exponents had no end (SDM vol. 1, 4.9.1.5).
  const tiny = small && (top + 1 < least || bitLength(unbounded.value) === fractionBits + 1);
  if (tiny && flush) return { bits: zero(format, sign), flags: Flag.underflow | Flag.inexact };
  const unit = (small ? least : top) - fractionBits;
  const { value, inexact } = small
    ? shiftRounded(mantissa, unit - exponent, sticky, sign, mode)
    : unbounded;
  // The integer bit adds one to the exponent field, also where rounding has made it.
  const field = BigInt(small ? 0 : unit + fractionBits - least);
  const bits = (field << BigInt(fractionBits)) + value;
  if (bits >= infinity(format, false))
    return overflowed(format, sign, mode, inexact || !overflowTraps);
  const lost = tiny && underflowTraps ? unbounded.inexact : inexact;
  const underflow = tiny && (inexact || underflowTraps) ? Flag.underflow : 0;
  return { bits: zero(format, sign) | bits, flags: (lost ? Flag.inexact : 0) | underflow };
};
