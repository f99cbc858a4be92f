/** Loads and stores. */
import { DOUBLE, Flag, type Format, Rounding, SINGLE, shiftRounded } from '../float/format.ts';
import {
  type Extended,
  type ExtendedNumber,
  type ExtendedResult,
  exact,
  fromInteger,
  INDEFINITE,
  narrow,
  SIGN_BIT,
} from './extended.ts';
import type { Fpu } from './fpu.ts';
import {
  FLOATS,
  INTEGERS,
  none,
  pushing,
  SOURCES,
  type X87Action,
  type X87Table,
} from './instruction.ts';

const table: X87Table = {};

for (const kind of [...FLOATS, 'm80fp'])
  table[`Fld_${kind}`] = {
    run: pushing(SOURCES[kind]!),
    memory: 'in',
  };
for (const kind of [...INTEGERS, 'm64int'])
  table[`Fild_${kind}`] = {
    run: pushing(SOURCES[kind]!),
    memory: 'in',
  };
table.Fld_sti = {
  run: (fpu, { i }) => {
    if (!fpu.isEmpty(i)) fpu.push(exact(fpu.bits(i)));
    else if (fpu.underflow()) fpu.pushUnchecked(INDEFINITE);
    return none;
  },
};

/** A store to memory: what it stores, from ST(0) or in its absence. */
const storing =
  (
    convert: (fpu: Fpu, x: ExtendedNumber) => ExtendedResult,
    absent: bigint,
    pops: boolean,
  ): X87Action =>
  (fpu) => {
    let stored: bigint | undefined;
    if (fpu.isEmpty(0)) stored = fpu.underflow() ? absent : none;
    else {
      const result = convert(fpu, fpu.number(0));
      // Of overflow and underflow too: an unmasked one stores nothing.
      const forbidden = result.flags & ~Flag.inexact & ~fpu.controlWord;
      fpu.setC1(forbidden === 0 && result.up);
      fpu.note(forbidden !== 0 ? result.flags & ~Flag.inexact : result.flags);
      stored = forbidden === 0 ? result.bits : none;
    }
    if (stored !== none && pops) fpu.pop();
    return stored;
  };

const FORMATS: readonly (readonly [string, Format, bigint])[] = [
  ['m32fp', SINGLE, 0xffc0_0000n],
  ['m64fp', DOUBLE, 0xfff8_0000_0000_0000n],
];
for (const [kind, format, absent] of FORMATS)
  for (const pops of [false, true])
    table[`F${pops ? 'stp' : 'st'}_${kind}`] = {
      run: storing((fpu, x) => narrow(format, x, fpu.control), absent, pops),
      memory: 'out',
    };
table.Fstp_m80fp = { run: storing((_fpu, x) => exact(x.bits), INDEFINITE, true), memory: 'out' };

const toInteger = (x: ExtendedNumber, width: number, mode: Rounding): ExtendedResult => {
  const impossible = exact(1n << BigInt(width - 1), Flag.invalid);
  if (x.kind === 'zero') return exact(0n);
  if (x.kind !== 'finite' || x.exponent > 64) return impossible;
  const { value, inexact, up } = shiftRounded(x.mantissa, -x.exponent, false, x.sign, mode);
  const signed = x.sign ? -value : value;
  if (BigInt.asIntN(width, signed) !== signed) return impossible;
  return { bits: BigInt.asUintN(width, signed), flags: inexact ? Flag.inexact : 0, up };
};

for (const width of [16, 32, 64]) {
  const absent = 1n << BigInt(width - 1);
  for (const pops of width === 64 ? [true] : [false, true])
    table[`F${pops ? 'istp' : 'ist'}_m${width}int`] = {
      run: storing((fpu, x) => toInteger(x, width, fpu.control.mode), absent, pops),
      memory: 'out',
    };
  table[`Fisttp_m${width}int`] = {
    run: storing((_fpu, x) => toInteger(x, width, Rounding.zero), absent, true),
    memory: 'out',
  };
}

const BCD_INDEFINITE = 0xffff_c000_0000_0000_0000n;
const BCD_LIMIT = 10n ** 18n;

const toBcd = (x: ExtendedNumber, mode: Rounding): ExtendedResult => {
  const impossible = exact(BCD_INDEFINITE, Flag.invalid);
  if (x.kind === 'zero') return exact(x.sign ? 1n << 79n : 0n);
  if (x.kind !== 'finite') return impossible;
  const { value, inexact, up } = shiftRounded(x.mantissa, -x.exponent, false, x.sign, mode);
  if (value >= BCD_LIMIT) return impossible;
  const bits = BigInt(`0x${value.toString()}`) | (x.sign ? 1n << 79n : 0n);
  return { bits, flags: inexact ? Flag.inexact : 0, up };
};

const fromBcd = (bits: bigint): Extended => {
  let value = 0n;
  for (let digit = 17; digit >= 0; digit--)
    value = 10n * value + ((bits >> BigInt(4 * digit)) & 15n);
  return fromInteger(value) | (bits & SIGN_BIT);
};

table.Fbstp_m80bcd = {
  run: storing((fpu, x) => toBcd(x, fpu.control.mode), BCD_INDEFINITE, true),
  memory: 'out',
};
table.Fbld_m80bcd = {
  run: pushing((bits) => exact(fromBcd(bits))),
  memory: 'in',
};

const copyTo =
  (pops: boolean): X87Action =>
  (fpu, { i }) => {
    let done = true;
    if (fpu.isEmpty(0)) {
      done = fpu.underflow();
      if (done) fpu.put(i, INDEFINITE);
    } else {
      fpu.setC1(false);
      fpu.put(i, fpu.bits(0));
    }
    if (done && pops) fpu.pop();
    return none;
  };
table.Fst_sti = { run: copyTo(false) };
for (const name of ['Fstp_sti', 'Fstp_sti_DFD0', 'Fstp_sti_DFD8'])
  table[name] = { run: copyTo(true) };
/** D9 D8: the same without a check; an empty register is not copied. */
table.Fstpnce_sti = {
  run: (fpu, { i }) => {
    fpu.setC1(false);
    if (!fpu.isEmpty(0)) fpu.put(i, fpu.bits(0));
    fpu.pop();
    return none;
  },
};

export const STORE_INSTRUCTIONS: Readonly<X87Table> = table;
