/** FADD and its like, and what works on ST(0) alone. */
import { readFlags } from '../flags-word.ts';
import {
  type ExtendedNumber,
  type ExtendedResult,
  exact,
  INDEFINITE,
  roundExtended,
  SIGN_BIT,
} from './extended.ts';
import { type Fpu, Status } from './fpu.ts';
import {
  compute,
  FLOATS,
  INTEGERS,
  ith,
  none,
  pushing,
  register,
  SOURCES,
  type X87Action,
  type X87Table,
  zeroth,
} from './instruction.ts';
import {
  add,
  divide,
  divideReversed,
  multiply,
  type Operation,
  scale,
  squareRoot,
  subtract,
  subtractReversed,
  toWhole,
} from './operations.ts';

const table: X87Table = {};

/** FADD and its like come in the same seven forms; the reversed ones are named by what they do to ST(i). */
const ARITHMETIC: readonly (readonly [name: string, toTop: Operation, toIth: Operation])[] = [
  ['add', add, add],
  ['mul', multiply, multiply],
  ['sub', subtract, subtract],
  ['subr', subtractReversed, subtractReversed],
  ['div', divide, divide],
  ['divr', divideReversed, divideReversed],
];
for (const [name, toTop, toIth] of ARITHMETIC) {
  table[`F${name}_st0_sti`] = { run: compute(toTop, zeroth, register(ith), false) };
  table[`F${name}_sti_st0`] = { run: compute(toIth, ith, register(zeroth), false) };
  table[`F${name}p_sti_st0`] = { run: compute(toIth, ith, register(zeroth), true) };
  for (const [prefix, kinds] of [
    ['F', FLOATS],
    ['Fi', INTEGERS],
  ] as const)
    for (const kind of kinds)
      table[`${prefix}${name}_${kind}`] = {
        run: compute(toTop, zeroth, (_fpu, { memory }) => SOURCES[kind]!(memory), false),
        memory: 'in',
      };
}

const onTop =
  (change: (fpu: Fpu, x: ExtendedNumber) => ExtendedResult): X87Action =>
  (fpu) => {
    if (!fpu.isEmpty(0)) fpu.deliver(0, change(fpu, fpu.number(0)));
    else if (fpu.underflow()) fpu.put(0, INDEFINITE);
    return none;
  };

table.Fchs = { run: onTop((_fpu, { bits }) => exact(bits ^ SIGN_BIT)) };
table.Fabs = { run: onTop((_fpu, { bits }) => exact(bits & ~SIGN_BIT)) };
table.Fsqrt = { run: onTop((fpu, x) => squareRoot(x, fpu.control)) };
table.Frndint = { run: onTop((fpu, x) => toWhole(x, fpu.control)) };
table.Fscale = {
  run: compute(
    scale,
    zeroth,
    register(() => 1),
    false,
  ),
};

/** Constants to 128 bits, and the exponent of their last one. */
const CONSTANTS: Readonly<Record<string, readonly [bigint, number]>> = {
  Fld1: [1n, 0],
  Fldl2t: [0xd49a_784b_cd1b_8afe_492b_f6ff_4daf_db4cn, -126],
  Fldl2e: [0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88n, -127],
  Fldpi: [0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1n, -126],
  Fldlg2: [0x9a20_9a84_fbcf_f798_8f89_59ac_0b7c_9178n, -129],
  Fldln2: [0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6afn, -128],
};
for (const [name, [mantissa, exponent]] of Object.entries(CONSTANTS))
  table[name] = {
    run: (fpu) => {
      const control = { ...fpu.control, precision: 64 };
      fpu.push(exact(roundExtended(false, mantissa, exponent, false, control).bits));
      return none;
    },
  };
table.Fldz = { run: pushing(() => exact(0n)) };

const CLASSES: Readonly<Record<ExtendedNumber['kind'], number>> = {
  unsupported: 0,
  quiet: Status.c0,
  signalling: Status.c0,
  finite: Status.c2,
  infinity: Status.c2 | Status.c0,
  zero: Status.c3,
};
table.Fxam = {
  run: (fpu) => {
    const x = fpu.number(0);
    const denormal = x.denormal ? Status.c3 | Status.c2 : CLASSES[x.kind];
    const found = fpu.isEmpty(0) ? Status.c3 | Status.c0 : denormal;
    fpu.conditions(found | (x.sign ? Status.c1 : 0));
    return none;
  },
};

const exchange: X87Action = (fpu, { i }) => {
  if (fpu.isEmpty(0) || fpu.isEmpty(i)) {
    if (!fpu.underflow()) return none;
    for (const one of [0, i]) if (fpu.isEmpty(one)) fpu.put(one, INDEFINITE);
  } else fpu.setC1(false);
  const [x, y] = [fpu.bits(0), fpu.bits(i)];
  fpu.put(0, y);
  fpu.put(i, x);
  return none;
};
for (const name of ['Fxch_st0_sti', 'Fxch_st0_sti_DDC8', 'Fxch_st0_sti_DFC8'])
  table[name] = { run: exchange };

/** FCMOVcc: RFLAGS bits of which one must be set (or none). */
const MOVES: readonly (readonly [name: string, mask: number])[] = [
  ['b', 1],
  ['e', 0x40],
  ['be', 0x41],
  ['u', 4],
];
for (const [name, mask] of MOVES)
  for (const negated of [false, true])
    table[`Fcmov${negated ? 'n' : ''}${name}_st0_sti`] = {
      run: (fpu, { i }) => {
        if (fpu.isEmpty(0) || fpu.isEmpty(i)) {
          if (fpu.underflow()) fpu.put(0, INDEFINITE);
          return none;
        }
        if (((readFlags(fpu.frames) & mask) !== 0) !== negated) fpu.put(0, fpu.bits(i));
        return none;
      },
    };

export const ARITHMETIC_INSTRUCTIONS: Readonly<X87Table> = table;
