/** Packed integers of MMX and SSE: lane by lane, so that one row serves both. */
import type { Insn, Row, Rows } from '../emit/insn.ts';
import { type Expr, extendU, I32, I64, i32, i64, select, wrap } from '../wasm/expr.ts';
import {
  constant128,
  extract,
  I8x16,
  I16x8,
  I32x4,
  I64x2,
  type Lanes,
  shuffle,
  V128,
  ZERO,
} from '../wasm/simd.ts';

/** The second operand: 16 bytes of memory must be aligned. */
export const source = (e: Insn, i = 1): Expr => e.vector(i, { aligned: e.vectorBits(i) === 128 });

type Compute = (x: Expr, y: Expr) => Expr;

/** Destination from both operands. */
export const packed =
  (compute: Compute): Row =>
  (e) => {
    const y = source(e);
    const x = e.vector(0);
    e.putVector(0, compute(x, y));
  };

/** The other order, for `andnot`. */
const swapped =
  (compute: Compute): Compute =>
  (x, y) =>
    compute(y, x);

/** High halves of 16-bit products. */
const highProducts =
  (low: (x: Expr, y: Expr) => Expr, high: (x: Expr, y: Expr) => Expr): Compute =>
  (x, y) =>
    shuffle(low(x, y), high(x, y), [2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31]);

/** Products of the even 32-bit lanes. */
const evenProducts =
  (multiply: (x: Expr, y: Expr) => Expr): Compute =>
  (x, y) => {
    const even = (v: Expr): Expr =>
      shuffle(v, v, [0, 1, 2, 3, 8, 9, 10, 11, ...new Array(8).fill(0)]);
    return multiply(even(x), even(y));
  };

/** PSADBW: sums of absolute differences, 8 bytes each. */
const differences: Compute = (x, y) => {
  const apart = V128.or(I8x16.subSatU(x, y), I8x16.subSatU(y, x));
  const pairs = I16x8.addPairsU(apart);
  // 8 sums of pairs: add those of each half
  const fours = I16x8.add(pairs, I64x2.shrU(pairs, i32(16)));
  const eights = I16x8.add(fours, I64x2.shrU(fours, i32(32)));
  return V128.and(
    eights,
    constant128([0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0]),
  );
};

type ShiftName = 'shl' | 'shrS' | 'shrU';

/** Shifts by more than the lane give 0, or the sign everywhere. */
const shift =
  (lanes: Lanes, bits: number, name: ShiftName): Row =>
  (e) => {
    const count = e.body.let(shiftCount(e));
    const x = e.vector(0);
    const most = i64(BigInt(bits - 1));
    const within = wrap(select(I64.ltU(count, i64(BigInt(bits))), count, most));
    const moved = e.body.let(lanes[name](x, within));
    if (name === 'shrS') return e.putVector(0, moved);
    e.putVector(0, select(I64.ltU(count, i64(BigInt(bits))), moved, ZERO));
  };

/** An immediate, or all 64 low bits of the operand. */
const shiftCount = (e: Insn): Expr =>
  /_imm8$/.test(e.name) ? extendU(e.read(1)) : extract('i64', source(e), 0);

/** PSLLDQ and PSRLDQ: by bytes; the immediate is only known when it runs. */
const shiftBytes =
  (left: boolean): Row =>
  (e) => {
    const x = e.vector(0);
    const count = e.read(1);
    const lane = I8x16.splat(count);
    const numbers = constant128(Array.from({ length: 16 }, (_, i) => i));
    // A swizzle gives 0 for numbers beyond 15; saturation keeps those beyond 255 there.
    const chosen = left
      ? I8x16.sub(numbers, select(I32.ltU(count, i32(16)), lane, I8x16.splat(i32(16))))
      : I8x16.addSatU(numbers, lane);
    e.putVector(0, I8x16.swizzle(x, chosen));
  };

export const VECTOR_INTEGER: Rows = {
  Paddb: packed(I8x16.add),
  Paddw: packed(I16x8.add),
  Paddd: packed(I32x4.add),
  Paddq: packed(I64x2.add),
  Psubb: packed(I8x16.sub),
  Psubw: packed(I16x8.sub),
  Psubd: packed(I32x4.sub),
  Psubq: packed(I64x2.sub),
  Paddsb: packed(I8x16.addSatS),
  Paddsw: packed(I16x8.addSatS),
  Paddusb: packed(I8x16.addSatU),
  Paddusw: packed(I16x8.addSatU),
  Psubsb: packed(I8x16.subSatS),
  Psubsw: packed(I16x8.subSatS),
  Psubusb: packed(I8x16.subSatU),
  Psubusw: packed(I16x8.subSatU),
  Pcmpeqb: packed(I8x16.eq),
  Pcmpeqw: packed(I16x8.eq),
  Pcmpeqd: packed(I32x4.eq),
  Pcmpgtb: packed(I8x16.gtS),
  Pcmpgtw: packed(I16x8.gtS),
  Pcmpgtd: packed(I32x4.gtS),
  Pminub: packed(I8x16.minU),
  Pmaxub: packed(I8x16.maxU),
  Pminsw: packed(I16x8.minS),
  Pmaxsw: packed(I16x8.maxS),
  Pavgb: packed(I8x16.avgrU),
  Pavgw: packed(I16x8.avgrU),
  Pmullw: packed(I16x8.mul),
  Pmulhw: packed(highProducts(I32x4.mulLowS, I32x4.mulHighS)),
  Pmulhuw: packed(highProducts(I32x4.mulLowU, I32x4.mulHighU)),
  Pmaddwd: packed(I32x4.dot),
  Pmuludq: packed(evenProducts(I64x2.mulLowU)),
  Psadbw: packed(differences),
  Pand: packed(V128.and),
  Pandn: packed(swapped(V128.andNot)),
  Por: packed(V128.or),
  Pxor: packed(V128.xor),
  Andps: packed(V128.and),
  Andpd: packed(V128.and),
  Andnps: packed(swapped(V128.andNot)),
  Andnpd: packed(swapped(V128.andNot)),
  Orps: packed(V128.or),
  Orpd: packed(V128.or),
  Xorps: packed(V128.xor),
  Xorpd: packed(V128.xor),
  Psllw: shift(I16x8, 16, 'shl'),
  Pslld: shift(I32x4, 32, 'shl'),
  Psllq: shift(I64x2, 64, 'shl'),
  Psrlw: shift(I16x8, 16, 'shrU'),
  Psrld: shift(I32x4, 32, 'shrU'),
  Psrlq: shift(I64x2, 64, 'shrU'),
  Psraw: shift(I16x8, 16, 'shrS'),
  Psrad: shift(I32x4, 32, 'shrS'),
  Pslldq: shiftBytes(true),
  Psrldq: shiftBytes(false),
};
