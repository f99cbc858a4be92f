/** Vector operations by the names of the WebAssembly specification; numbers follow the prefix FD. */
import type { Type } from './encode.ts';
import { type Expr, vector } from './expr.ts';

type Operation = (...args: readonly Expr[]) => Expr;

const v = (opcode: number): Operation => vector('v128', opcode);

export interface Lanes {
  readonly splat: Operation;
  readonly eq: Operation;
  readonly gtS: Operation;
  readonly shl: Operation;
  readonly shrS: Operation;
  readonly shrU: Operation;
  readonly add: Operation;
  readonly sub: Operation;
  readonly abs: Operation;
  readonly neg: Operation;
  readonly bitmask: Operation;
}

const lanes = (
  splat: number,
  eq: number,
  gtS: number,
  [abs, bitmask, shl, add, sub]: readonly [number, number, number, number, number],
): Lanes => ({
  splat: v(splat),
  eq: v(eq),
  gtS: v(gtS),
  shl: v(shl),
  shrS: v(shl + 1),
  shrU: v(shl + 2),
  add: v(add),
  sub: v(sub),
  abs: v(abs),
  neg: v(abs + 1),
  bitmask: vector('i32', bitmask),
});

export const I8x16 = {
  ...lanes(15, 35, 39, [96, 100, 107, 110, 113]),
  addSatS: v(111),
  addSatU: v(112),
  subSatS: v(114),
  subSatU: v(115),
  minS: v(118),
  minU: v(119),
  maxS: v(120),
  maxU: v(121),
  avgrU: v(123),
  narrowS: v(101),
  narrowU: v(102),
  swizzle: v(14),
} as const;

export const I16x8 = {
  ...lanes(16, 45, 49, [128, 132, 139, 142, 145]),
  addSatS: v(143),
  addSatU: v(144),
  subSatS: v(146),
  subSatU: v(147),
  mul: v(149),
  minS: v(150),
  minU: v(151),
  maxS: v(152),
  maxU: v(153),
  avgrU: v(155),
  narrowS: v(133),
  narrowU: v(134),
  extendLowS: v(135),
  extendLowU: v(137),
  extendHighS: v(136),
  extendHighU: v(138),
  addPairsU: v(125),
} as const;

export const I32x4 = {
  ...lanes(17, 55, 59, [160, 164, 171, 174, 177]),
  mul: v(181),
  minS: v(182),
  minU: v(183),
  maxS: v(184),
  maxU: v(185),
  dot: v(186),
  extendLowS: v(167),
  extendLowU: v(169),
  mulLowS: v(188),
  mulHighS: v(189),
  mulLowU: v(190),
  mulHighU: v(191),
} as const;

export const I64x2 = {
  ...lanes(18, 214, 217, [192, 196, 203, 206, 209]),
  extendLowS: v(199),
  extendLowU: v(201),
  mulLowS: v(220),
  mulLowU: v(222),
} as const;

export const V128 = {
  not: v(77),
  and: v(78),
  /** First and not second. */
  andNot: v(79),
  or: v(80),
  xor: v(81),
  /** Bits of the first where the third has ones, else of the second. */
  select: v(82),
  anyTrue: vector('i32', 83),
} as const;

/** Bytes of two vectors by number: 0-15 of the first, 16-31 of the second. */
export const shuffle = (x: Expr, y: Expr, bytes: readonly number[]): Expr =>
  vector('v128', 13, ...bytes)(x, y);

/** A constant of 16 bytes. */
export const constant128 = (bytes: readonly number[]): Expr => vector('v128', 12, ...bytes)();

export const ZERO = constant128(new Array(16).fill(0));

type LaneType = 'i8' | 'i16' | 'i32' | 'i64' | 'f32' | 'f64';

const EXTRACT: Readonly<Record<LaneType, readonly [Type, number]>> = {
  i8: ['i32', 22],
  i16: ['i32', 25],
  i32: ['i32', 27],
  i64: ['i64', 29],
  f32: ['f32', 31],
  f64: ['f64', 33],
};

/** One lane, zero-extended. */
export const extract = (type: LaneType, x: Expr, lane: number): Expr =>
  vector(...EXTRACT[type], lane)(x);

export const replace = (type: LaneType, x: Expr, lane: number, value: Expr): Expr =>
  vector('v128', EXTRACT[type][1] + 1, lane)(x, value);
