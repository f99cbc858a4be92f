/**
 * SSE floating point. WebAssembly computes rounded to nearest and tells of no exception; it is used where that
 * is all there is to it: every exception masked, no special operand or result, and "inexact" noted already.
 * All else is computed exactly in `float/`.
 */
import type { Insn, Row, Rows } from '../emit/insn.ts';
import { STATE } from '../layout.ts';
import type { Local } from '../wasm/body.ts';
import { bit, type Expr, extendU, I32, i32, load, scalar, select, vector } from '../wasm/expr.ts';
import {
  constant128,
  extract,
  I32x4,
  I64x2,
  type Lanes,
  replace,
  V128,
  ZERO,
} from '../wasm/simd.ts';

type Name = 'f32' | 'f64';

interface FloatLanes {
  readonly name: Name;
  readonly count: 2 | 4;
  readonly bytes: 4 | 8;
  readonly ints: Lanes;
  readonly lane: 'i32' | 'i64';
  readonly eq: (...args: Expr[]) => Expr;
  readonly lt: (...args: Expr[]) => Expr;
  readonly le: (...args: Expr[]) => Expr;
  readonly abs: (...args: Expr[]) => Expr;
  readonly compute: Readonly<Record<string, (x: Expr, y: Expr) => Expr>>;
  /** Least and greatest normal numbers in every lane. */
  readonly least: Expr;
  readonly most: Expr;
}

const op = (opcode: number) => vector('v128', opcode);

/** Arithmetic of one width follows one another: abs, neg, sqrt +3, add, sub, mul, div, min, max, pmin, pmax. */
const floatLanes = (name: Name, comparisons: number, arithmetic: number): FloatLanes => {
  const single = name === 'f32';
  const repeat = (bytes: readonly number[]): Expr =>
    constant128(Array.from({ length: 16 }, (_, i) => bytes[i % bytes.length]!));
  const {
    0: sqrt,
    1: add,
    2: sub,
    3: mul,
    4: div,
    7: pmin,
    8: pmax,
  } = Array.from({ length: 9 }, (_, i) => op(arithmetic + 3 + i));
  return {
    name,
    count: single ? 4 : 2,
    bytes: single ? 4 : 8,
    ints: single ? I32x4 : I64x2,
    lane: single ? 'i32' : 'i64',
    eq: op(comparisons),
    lt: op(comparisons + 2),
    le: op(comparisons + 4),
    abs: op(arithmetic),
    compute: {
      add: add!,
      sub: sub!,
      mul: mul!,
      div: div!,
      sqrt: (_x, y) => sqrt!(y),
      // x < y ? x : y, which is what MINPS does
      min: (x, y) => pmin!(y, x),
      max: (x, y) => pmax!(y, x),
    },
    least: repeat(single ? [0, 0, 0x80, 0] : [0, 0, 0, 0, 0, 0, 0x10, 0]),
    most: repeat(
      single ? [0xff, 0xff, 0x7f, 0x7f] : [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f],
    ),
  };
};

const F: Readonly<Record<Name, FloatLanes>> = {
  f32: floatLanes('f32', 65, 224),
  f64: floatLanes('f64', 71, 236),
};

const isZero = (f: FloatLanes, v: Expr): Expr => f.eq(v, ZERO);

/** Lanes that are 0 or a normal number. */
const plain = (f: FloatLanes, v: Expr): Expr =>
  V128.or(isZero(f, v), V128.and(f.le(f.least, f.abs(v)), f.le(f.abs(v), f.most)));

/** Lanes whose result cannot have overflowed or underflowed; 0 only where `zeros` allows it. */
const ordinary = (f: FloatLanes, v: Expr, zeros: Expr): Expr =>
  V128.or(V128.and(isZero(f, v), zeros), V128.and(f.lt(f.least, f.abs(v)), f.le(f.abs(v), f.most)));

/** Whether a mask of lanes holds in all that count. */
const everywhere = (f: FloatLanes, lanes: number, mask: Expr): Expr => {
  const all = (1 << lanes) - 1;
  return I32.eq(I32.and(f.ints.bitmask(mask), i32(all)), i32(all));
};

const mxcsr = (): Expr => load.i32(i32(0), STATE.mxcsr);
/** Exceptions masked, to nearest, no DAZ, no FTZ; and inexact noted. */
const usual = (): Expr => I32.eq(I32.and(mxcsr(), i32(0xffe0)), i32(0x1fa0));
const noDaz = (): Expr => I32.eqz(bit(mxcsr(), 6));

/** Where an exact 0 may come from. */
const zeroResults = (f: FloatLanes, operation: string, x: Expr, y: Expr): Expr => {
  if (operation === 'mul') return V128.or(isZero(f, x), isZero(f, y));
  return operation === 'div' ? isZero(f, x) : V128.not(ZERO);
};

/** Hands operands to a routine and answers its result. */
const routine = (e: Insn, name: string, x: Expr, y: Expr): Expr => {
  e.body.storeAt(128, STATE.vectorX, x);
  e.body.storeAt(128, STATE.vectorY, y);
  e.host(name);
  return load.v128(i32(0), STATE.vectorResult);
};

const source = (e: Insn, i = 1): Local =>
  e.vector(i, { aligned: e.isMemory(i) && e.vectorBits(i) === 128 });

/** Writes all lanes, or the lowest one. */
const put = (e: Insn, f: FloatLanes, lanes: number, value: Expr): void => {
  if (lanes === f.count) e.putVector(0, value);
  else e.putLow(0, extract(f.lane, value, 0));
};

const arithmetic =
  (operation: string, name: Name, scalarForm: boolean): Row =>
  (e) => {
    const f = F[name];
    const lanes = scalarForm ? 1 : f.count;
    const { body } = e;
    const y = source(e);
    const x = e.vector(0);
    const r = body.let(f.compute[operation]!(x, y));
    const choice = operation === 'min' || operation === 'max';
    const operands = operation === 'sqrt' ? plain(f, y) : V128.and(plain(f, x), plain(f, y));
    const fine = choice
      ? operands
      : V128.and(operands, ordinary(f, r, zeroResults(f, operation, x, y)));
    const state = choice ? noDaz() : usual();
    body.if(
      I32.and(state, everywhere(f, lanes, fine)),
      () => put(e, f, lanes, r),
      () => put(e, f, lanes, routine(e, `${operation}-${name}-${lanes}`, x, y)),
    );
  };

const arithmeticRows = (mnemonic: string, operation: string): [string, Row][] => [
  [`${mnemonic}ps`, arithmetic(operation, 'f32', false)],
  [`${mnemonic}pd`, arithmetic(operation, 'f64', false)],
  [`${mnemonic}ss`, arithmetic(operation, 'f32', true)],
  [`${mnemonic}sd`, arithmetic(operation, 'f64', true)],
];

/** COMISS and UCOMISS: ZF, PF, CF; the others are cleared. */
const order =
  (name: Name, quiet: boolean): Row =>
  (e) => {
    const f = F[name];
    const { body } = e;
    const y = source(e);
    const x = e.vector(0);
    const flags = body.local('i32');
    const lowest = (mask: Expr): Expr => I32.and(f.ints.bitmask(mask), i32(1));
    body.if(
      I32.and(noDaz(), everywhere(f, 1, V128.and(plain(f, x), plain(f, y)))),
      () => body.set(flags, I32.or(lowest(f.lt(x, y)), I32.shl(lowest(f.eq(x, y)), i32(6)))),
      () => {
        const found = routine(e, `${quiet ? 'quiet-' : ''}order-${name}-1`, x, y);
        body.set(flags, extract('i32', found, 0));
      },
    );
    e.flags.unpack(flags);
  };

/** CMPPS: the predicate is an immediate. */
const comparison =
  (name: Name, scalarForm: boolean): Row =>
  (e) => {
    const f = F[name];
    const lanes = scalarForm ? 1 : f.count;
    const { body } = e;
    const y = source(e);
    const x = e.vector(0);
    const predicate = body.let(I32.and(e.read(2), i32(7)));
    body.if(
      I32.and(noDaz(), everywhere(f, lanes, V128.and(plain(f, x), plain(f, y)))),
      () => put(e, f, lanes, chosen(f, predicate, x, y)),
      () => {
        e.scratch(extendU(predicate));
        put(e, f, lanes, routine(e, `compare-${name}-${lanes}`, x, y));
      },
    );
  };

/** The predicate's mask for ordered operands. */
const chosen = (f: FloatLanes, predicate: Expr, x: Expr, y: Expr): Expr => {
  const low = I32.and(predicate, i32(3));
  const is = (n: number): Expr => I32.eq(low, i32(n));
  const mask = select(
    is(0),
    f.eq(x, y),
    select(is(1), f.lt(x, y), select(is(2), f.le(x, y), ZERO)),
  );
  return V128.xor(mask, select(bit(predicate, 2), V128.not(ZERO), ZERO));
};

/** To integers in a general register. */
const toGeneral =
  (name: Name, truncate: boolean): Row =>
  (e) => {
    const y = source(e);
    const width = e.size(0) as 32 | 64;
    const result = routine(e, `${truncate ? 'cut' : 'to'}-i${width}-${name}-1`, ZERO, y);
    e.write(0, extract(width === 64 ? 'i64' : 'i32', result, 0));
  };

/** From a general register; a 32-bit one always fits a double. */
const fromGeneral =
  (name: Name): Row =>
  (e) => {
    const f = F[name];
    const value = e.read(1);
    const width = e.size(1) as 32 | 64;
    if (name === 'f64' && width === 32) {
      const double = scalar('f64', 0xb7)(value);
      return e.putLow(0, scalar('i64', 0xbd)(double));
    }
    const lane = width === 64 ? 'i64' : 'i32';
    const y = replace(lane, ZERO, 0, value);
    put(e, f, 1, routine(e, `from-i${width}-${name}-1`, ZERO, y));
  };

/** A conversion that fills the destination: whole, or its lower half (the rest becomes 0, in MMX there is none). */
const convertAll =
  (name: string): Row =>
  (e) => {
    const y = source(e);
    // Also if the exception traps.
    if (e.isMmx(0) || e.isMmx(1)) e.takeStack();
    e.putVector(0, routine(e, name, ZERO, y));
  };

/** A conversion into the lowest lane. */
const convertLow =
  (name: string, to: Name): Row =>
  (e) => {
    const y = source(e);
    put(e, F[to], 1, routine(e, name, ZERO, y));
  };

/** CVTPI2PS: two lanes, the upper half stays. */
const fromMmxSingles: Row = (e) => {
  const y = source(e);
  if (e.isMmx(1)) e.takeStack();
  const result = routine(e, 'from-i32-f32-2', ZERO, y);
  e.putLow(0, extract('i64', result, 0));
};

export const FLOAT: Rows = {
  ...Object.fromEntries(
    ['add', 'sub', 'mul', 'div', 'min', 'max', 'sqrt'].flatMap((operation) =>
      arithmeticRows(operation[0]!.toUpperCase() + operation.slice(1), operation),
    ),
  ),
  Rcpps: convertAll('rcp-f32-4'),
  Rcpss: convertLow('rcp-f32-1', 'f32'),
  Rsqrtps: convertAll('rsqrt-f32-4'),
  Rsqrtss: convertLow('rsqrt-f32-1', 'f32'),
  Comiss: order('f32', false),
  Comisd: order('f64', false),
  Ucomiss: order('f32', true),
  Ucomisd: order('f64', true),
  Cmpps: comparison('f32', false),
  Cmppd: comparison('f64', false),
  Cmpss: comparison('f32', true),
  Cmpsd: comparison('f64', true),
  Cvtss2si: toGeneral('f32', false),
  Cvttss2si: toGeneral('f32', true),
  Cvtsd2si: toGeneral('f64', false),
  Cvttsd2si: toGeneral('f64', true),
  Cvtsi2ss: fromGeneral('f32'),
  Cvtsi2sd: fromGeneral('f64'),
  Cvtss2sd: convertLow('convert-f32-f64-1', 'f64'),
  Cvtsd2ss: convertLow('convert-f64-f32-1', 'f32'),
  Cvtps2pd: convertAll('convert-f32-f64-2'),
  Cvtpd2ps: convertAll('convert-f64-f32-2'),
  Cvtdq2ps: convertAll('from-i32-f32-4'),
  Cvtdq2pd: convertAll('from-i32-f64-2'),
  Cvtps2dq: convertAll('to-i32-f32-4'),
  Cvttps2dq: convertAll('cut-i32-f32-4'),
  Cvtpd2dq: convertAll('to-i32-f64-2'),
  Cvttpd2dq: convertAll('cut-i32-f64-2'),
  Cvtpi2ps: fromMmxSingles,
  Cvtpi2pd: convertAll('from-i32-f64-2'),
  Cvtps2pi: convertAll('to-i32-f32-2'),
  Cvttps2pi: convertAll('cut-i32-f32-2'),
  Cvtpd2pi: convertAll('to-i32-f64-2'),
  Cvttpd2pi: convertAll('cut-i32-f64-2'),
};
