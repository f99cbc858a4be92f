/** FPREM, FPREM1, FXTRACT. */
import { Flag, Rounding } from '../float/format.ts';
import {
  type Extended,
  type ExtendedNumber,
  exact,
  fromInteger,
  INDEFINITE,
  infinite,
  nothing,
  roundExtended,
} from './extended.ts';
import { Status } from './fpu.ts';
import { none, type X87Action, type X87Table } from './instruction.ts';
import { special } from './operations.ts';

const table: X87Table = {};

/** Above this difference of exponents FPREM only goes part of the way. */
const WHOLE = 64;

const remainder =
  (nearest: boolean): X87Action =>
  (fpu) => {
    fpu.status &= ~Status.c2;
    if (fpu.isEmpty(0) || fpu.isEmpty(1)) {
      if (fpu.underflow()) fpu.put(0, INDEFINITE);
      return none;
    }
    const [x, y] = [fpu.number(0), fpu.number(1)];
    const found = special(x, y);
    const impossible = x.kind === 'infinity' || y.kind === 'zero';
    if (found !== undefined || impossible) {
      fpu.deliver(0, found ?? exact(INDEFINITE, Flag.invalid));
      return none;
    }
    const flags = x.denormal || y.denormal ? Flag.denormal : 0;
    fpu.setC1(false);
    if (!fpu.note(flags)) return none;
    const { value, quotient, partial } = reduced(x, y, nearest);
    if (value !== null) fpu.put(0, value);
    const bit = (n: bigint, condition: number): number =>
      ((quotient >> n) & 1n) === 1n ? condition : 0;
    fpu.conditions(
      partial ? Status.c2 : bit(0n, Status.c1) | bit(1n, Status.c3) | bit(2n, Status.c0),
    );
    return none;
  };

interface Reduced {
  readonly value: Extended | null;
  readonly quotient: bigint;
  readonly partial: boolean;
}

const EXACTLY = { mode: Rounding.nearest, precision: 64, masked: 0x3f } as const;

const reduced = (x: ExtendedNumber, y: ExtendedNumber, nearest: boolean): Reduced => {
  if (x.kind === 'zero' || y.kind === 'infinity')
    return { value: null, quotient: 0n, partial: false };
  const topOf = ({ mantissa, exponent }: ExtendedNumber): number =>
    mantissa.toString(2).length + exponent;
  const apart = topOf(x) - topOf(y);
  const partial = apart >= WHOLE;
  const exponent = Math.min(x.exponent, y.exponent);
  const a = x.mantissa << BigInt(x.exponent - exponent);
  let b = y.mantissa << BigInt(y.exponent - exponent);
  if (partial) b <<= BigInt(apart - ((apart & 31) | 32));
  let quotient = a / b;
  let rest = a - quotient * b;
  let sign = x.sign;
  if (nearest && !partial && (2n * rest > b || (2n * rest === b && (quotient & 1n) === 1n))) {
    quotient++;
    rest = b - rest;
    sign = !sign;
  }
  const value =
    rest === 0n ? nothing(x.sign) : roundExtended(sign, rest, exponent, false, EXACTLY).bits;
  return { value, quotient, partial };
};

table.Fprem = { run: remainder(false) };
table.Fprem1 = { run: remainder(true) };

/** FXTRACT: ST(0) becomes the exponent, the significand is pushed. */
table.Fxtract = {
  run: (fpu) => {
    if (fpu.isEmpty(0)) {
      if (fpu.underflow()) {
        fpu.put(0, INDEFINITE);
        fpu.pushUnchecked(INDEFINITE);
      }
      return none;
    }
    const x = fpu.number(0);
    const found = special(x, x);
    const [exponent, significand, flags] =
      found !== undefined
        ? [found.bits, found.bits, found.flags]
        : x.kind === 'infinity'
          ? [infinite(false), x.bits, 0]
          : x.kind === 'zero'
            ? [infinite(true), x.bits, Flag.divideByZero]
            : [...extracted(x), x.denormal ? Flag.denormal : 0];
    if (!fpu.isEmpty(7)) {
      if (fpu.push(exact(INDEFINITE))) fpu.put(1, INDEFINITE);
      return none;
    }
    if (!fpu.deliver(0, exact(exponent, flags))) return none;
    fpu.push(exact(significand));
    return none;
  },
};

const extracted = (x: ExtendedNumber): [Extended, Extended] => {
  const length = x.mantissa.toString(2).length;
  const exponent = fromInteger(BigInt(x.exponent + length - 1));
  return [exponent, roundExtended(x.sign, x.mantissa, 1 - length, false, EXACTLY).bits];
};

export const REMAINDER_INSTRUCTIONS: Readonly<X87Table> = table;
