/** The 80-bit format of x87 (SDM vol. 1, 4.2.2 and 8.2): sign and exponent, then 64 bits with the integer bit. */
import {
  bitLength,
  Flag,
  type Format,
  infinity,
  quieted,
  Rounding,
  round,
  shiftRounded,
  type Unpacked,
  unpack,
  zero,
} from '../float/format.ts';

/** As it stands in a register: bits 64-79 sign and exponent, below them the significand. */
export type Extended = bigint;

const BIAS = 16383;
const INTEGER = 1n << 63n;
const QUIET = 1n << 62n;
const SIGN = 1n << 79n;
const FULL = 0x7fffn;
const SIGNIFICAND = (1n << 64n) - 1n;
/** Value of the least significand bit of the smallest numbers. */
const LOWEST = 1 - BIAS - 63;

export const INDEFINITE: Extended = SIGN | (FULL << 64n) | INTEGER | QUIET;
export const infinite = (sign: boolean): Extended => (sign ? SIGN : 0n) | (FULL << 64n) | INTEGER;
export const nothing = (sign: boolean): Extended => (sign ? SIGN : 0n);
export const quiet = (bits: Extended): Extended => bits | QUIET;
export const signOf = (bits: Extended): boolean => (bits & SIGN) !== 0n;
export const SIGN_BIT = SIGN;

/** `unsupported`: encodings that no operation takes any more. */
export interface ExtendedNumber extends Omit<Unpacked, 'kind'> {
  readonly kind: Unpacked['kind'] | 'unsupported';
}

export const takeApart = (bits: Extended): ExtendedNumber => {
  const sign = signOf(bits);
  const field = (bits >> 64n) & FULL;
  const mantissa = bits & SIGNIFICAND;
  const common = { sign, mantissa, bits, denormal: false };
  const whole = (mantissa & INTEGER) !== 0n;
  if (field === 0n) {
    const kind = mantissa === 0n ? 'zero' : 'finite';
    return { ...common, kind, exponent: LOWEST, denormal: mantissa !== 0n };
  }
  const exponent = Number(field) - 1 + LOWEST;
  if (!whole) return { ...common, kind: 'unsupported', exponent };
  if (field !== FULL) return { ...common, kind: 'finite', exponent };
  if (mantissa === INTEGER) return { ...common, kind: 'infinity', exponent };
  return { ...common, kind: (mantissa & QUIET) !== 0n ? 'quiet' : 'signalling', exponent };
};

/** What the control word says of rounding. */
export interface Control {
  readonly mode: Rounding;
  /** Bits of the significand: 24, 53 or 64. */
  readonly precision: number;
  /** Exceptions that are masked, by {@link Flag}. */
  readonly masked: number;
}

export interface ExtendedResult {
  readonly bits: Extended;
  readonly flags: number;
  /** Rounded away from zero: C1. */
  readonly up: boolean;
}

export const exact = (bits: Extended, flags = 0): ExtendedResult => ({ bits, flags, up: false });

/** Exponents of a trapped overflow or underflow are brought into range by this (SDM vol. 1, 8.5.4). */
const WRAP = 24576;

const pack = (sign: boolean, field: number, mantissa: bigint): Extended =>
  (sign ? SIGN : 0n) | (BigInt(field) << 64n) | mantissa;

/** Brings a rounded significand of `precision` bits to 64, one exponent up if it has grown. */
const normalised = (value: bigint, precision: number, top: number) => {
  const grown = bitLength(value) > precision;
  const mantissa = (grown ? value >> 1n : value) << BigInt(64 - precision);
  return { mantissa, top: grown ? top + 1 : top };
};

/** What the handler of a trap gets; FSCALE can go too far even for that. */
const wrapped = (
  sign: boolean,
  field: number,
  mantissa: bigint,
  up: boolean,
  flags: number,
): ExtendedResult => {
  if (field >= Number(FULL)) return { bits: infinite(sign), flags: flags | Flag.inexact, up };
  if (field < 1) return { bits: nothing(sign), flags: flags | Flag.inexact, up: false };
  return { bits: pack(sign, field, mantissa), flags, up };
};

const overflowed = (sign: boolean, mode: Rounding, precision: number): ExtendedResult => {
  const up = mode === Rounding.nearest || mode === (sign ? Rounding.down : Rounding.up);
  const ones = SIGNIFICAND & ~((1n << BigInt(64 - precision)) - 1n);
  const bits = up ? infinite(sign) : pack(sign, Number(FULL) - 1, ones);
  return { bits, flags: Flag.overflow | Flag.inexact, up };
};

/** Rounds `mantissa` * 2^`exponent` (and a little more, if `sticky`). Preconditions: `mantissa` is not 0. */
export const roundExtended = (
  sign: boolean,
  mantissa: bigint,
  exponent: number,
  sticky: boolean,
  { mode, precision, masked }: Control,
): ExtendedResult => {
  const top = exponent + bitLength(mantissa) - 1;
  const shift = top - (precision - 1) - exponent;
  const rounded = shiftRounded(mantissa, shift, sticky, sign, mode);
  const result = normalised(rounded.value, precision, top);
  const inexact = rounded.inexact ? Flag.inexact : 0;
  const field = result.top + BIAS;
  const { up } = rounded;
  if (field >= Number(FULL)) {
    if ((masked & Flag.overflow) === 0)
      return wrapped(sign, field - WRAP, result.mantissa, up, inexact | Flag.overflow);
    return overflowed(sign, mode, precision);
  }
  if (field >= 1) return { bits: pack(sign, field, result.mantissa), flags: inexact, up };
  if ((masked & Flag.underflow) === 0)
    return wrapped(sign, field + WRAP, result.mantissa, up, inexact | Flag.underflow);
  // Denormal: fewer bits, at a fixed place; precision control counts from there too.
  const unit = LOWEST + 64 - precision;
  const small = shiftRounded(mantissa, unit - exponent, sticky, sign, mode);
  const bits = small.value << BigInt(64 - precision);
  const flags = small.inexact ? Flag.inexact | Flag.underflow : 0;
  return { bits: pack(sign, (bits & INTEGER) !== 0n ? 1 : 0, bits), flags, up: small.up };
};

/** A float or double as it comes into a register. */
export const widen = (format: Format, bits: bigint): ExtendedResult => {
  const x = unpack(format, bits);
  if (x.kind === 'zero') return exact(nothing(x.sign));
  if (x.kind === 'infinity') return exact(infinite(x.sign));
  if (x.kind !== 'finite') {
    const payload = x.mantissa << BigInt(63 - format.fractionBits);
    const flags = x.kind === 'signalling' ? Flag.invalid : 0;
    return exact(pack(x.sign, Number(FULL), INTEGER | QUIET | payload), flags);
  }
  const shift = 64 - bitLength(x.mantissa);
  const field = x.exponent - shift + 63 + BIAS;
  return exact(pack(x.sign, field, x.mantissa << BigInt(shift)), x.denormal ? Flag.denormal : 0);
};

export const fromInteger = (value: bigint): Extended => {
  if (value === 0n) return 0n;
  const magnitude = value < 0n ? -value : value;
  const shift = 64 - bitLength(magnitude);
  return pack(value < 0n, 63 - shift + BIAS, magnitude << BigInt(shift));
};

/** A register as a float or double in memory. */
export const narrow = (format: Format, x: ExtendedNumber, control: Control): ExtendedResult => {
  if (x.kind === 'zero') return exact(zero(format, x.sign));
  if (x.kind === 'infinity') return exact(infinity(format, x.sign));
  if (x.kind === 'unsupported') return exact(quieted(format, infinity(format, true)), Flag.invalid);
  if (x.kind !== 'finite') {
    const payload = (x.mantissa & ~INTEGER) >> BigInt(63 - format.fractionBits);
    const flags = x.kind === 'signalling' ? Flag.invalid : 0;
    return exact(quieted(format, infinity(format, x.sign) | payload), flags);
  }
  const context = {
    mode: control.mode,
    flush: false,
    underflowTraps: (control.masked & Flag.underflow) === 0,
    overflowTraps: (control.masked & Flag.overflow) === 0,
  };
  const result = round(format, x.sign, x.mantissa, x.exponent, false, context);
  const cut = round(format, x.sign, x.mantissa, x.exponent, false, {
    ...context,
    mode: Rounding.zero,
  });
  return { ...result, up: result.bits !== cut.bits };
};
