/** Instructions that move lanes about. An immediate is only known when they run, so they choose by a swizzle. */
import type { Insn, Row, Rows } from '../emit/insn.ts';
import { type Expr, extendU, I32, i32, select, wrap } from '../wasm/expr.ts';
import { constant128, extract, I8x16, I16x8, replace, shuffle, ZERO } from '../wasm/simd.ts';
import { source } from './vector-integer.ts';

type Bytes = readonly number[];

/** Bytes of lanes of `size` bytes, by lane number. */
const lanes = (size: number, ...numbers: readonly number[]): number[] =>
  numbers.flatMap((n) => Array.from({ length: size }, (_, i) => n * size + i));

/** Lanes of both operands in turn, from the lower or the upper half. */
const interleaved = (size: number, high: boolean, bytes: number): Bytes => {
  const count = bytes / size;
  const first = high ? count / 2 : 0;
  const numbers = Array.from({ length: count }, (_, i) => {
    const lane = first + (i >> 1);
    return i % 2 === 0 ? lane : lane + 16 / size;
  });
  const chosen = lanes(size, ...numbers);
  return [...chosen, ...new Array(16 - chosen.length).fill(0)];
};

const unpack =
  (size: number, high: boolean): Row =>
  (e) => {
    // The low forms of MMX read 4 bytes of memory.
    const y = source(e);
    const x = e.vector(0);
    e.putVector(0, shuffle(x, y, interleaved(size, high, e.isMmx(0) ? 8 : 16)));
  };

/** Narrows both operands; in MMX their lower halves are what counts. */
const pack =
  (narrow: (x: Expr, y: Expr) => Expr): Row =>
  (e) => {
    const y = source(e);
    const r = e.body.let(narrow(e.vector(0), y));
    const halves = [0, 1, 2, 3, 8, 9, 10, 11, ...new Array(8).fill(0)];
    e.putVector(0, e.isMmx(0) ? shuffle(r, r, halves) : r);
  };

/** Byte numbers for lanes picked by two bits each of the immediate, added to `base`. */
const picks = (control: Expr, size: number, count: number): Expr[] =>
  Array.from({ length: count }, (_, i) =>
    I32.mul(I32.and(I32.shrU(control, i32(2 * i)), i32(3)), i32(size)),
  );

/** A byte vector whose lanes of `size` hold `first + pick` and what follows. */
const numbers = (size: 2 | 4, chosen: readonly Expr[], fixed: Bytes): Expr => {
  const within = Array.from({ length: 16 }, (_, i) => (i % size) as number);
  let vector: Expr = ZERO;
  const type = size === 2 ? 'i16' : 'i32';
  const repeat = size === 2 ? 0x0101 : 0x01010101;
  for (let lane = 0; lane < 16 / size; lane++) {
    const pick = chosen[lane];
    const value = pick === undefined ? i32(0) : I32.mul(pick, i32(repeat));
    vector = replace(type, vector, lane, value);
  }
  return I8x16.add(vector, constant128(within.map((n, i) => n + (fixed[i] ?? 0))));
};

const shuffleDwords: Row = (e) => {
  const x = source(e);
  const control = e.read(2);
  e.putVector(0, I8x16.swizzle(x, numbers(4, picks(control, 4, 4), [])));
};

/** PSHUFLW, PSHUFHW: one half's words by the immediate, the other half as it is. */
const shuffleWords =
  (high: boolean): Row =>
  (e) => {
    const x = source(e);
    const chosen = picks(e.read(2), 2, 4);
    const none = new Array<Expr>(4).fill(i32(0));
    const fixed = Array.from({ length: 16 }, (_, i) => {
      const lane = i >> 1;
      const moved = high === lane >= 4;
      return moved ? (high ? 8 : 0) : 2 * lane;
    });
    const all = high ? [...none, ...chosen] : [...chosen, ...none];
    e.putVector(0, I8x16.swizzle(x, numbers(2, all, fixed)));
  };

const shuffleMmx: Row = (e) => {
  const x = source(e);
  e.putVector(0, I8x16.swizzle(x, numbers(2, picks(e.read(2), 2, 4), [])));
};

/** SHUFPS: two lanes of the destination, two of the source. */
const shuffleSingles: Row = (e) => {
  const y = source(e);
  const x = e.vector(0);
  const order = e.body.let(numbers(4, picks(e.read(2), 4, 4), []));
  const low = I8x16.swizzle(x, order);
  const high = I8x16.swizzle(y, order);
  e.putVector(0, shuffle(low, high, lanes(8, 0, 3)));
};

/** SHUFPD: one bit of the immediate for each half. */
const shuffleDoubles: Row = (e) => {
  const y = e.body.let(source(e));
  const x = e.vector(0);
  const control = e.read(2);
  const half = (v: Expr, bit: number): Expr =>
    select(
      I32.and(I32.shrU(control, i32(bit)), i32(1)),
      extract('i64', v, 1),
      extract('i64', v, 0),
    );
  const low = e.body.let(half(x, 0));
  const high = e.body.let(half(y, 1));
  e.putVector(0, replace('i64', replace('i64', ZERO, 0, low), 1, high));
};

/** PINSRW and PEXTRW: the lane's number is known when they run; 16-bit lanes in the state. */
const laneNumber = (e: Insn, i: number, count: number): Expr => I32.and(e.read(i), i32(count - 1));

const insertWord: Row = (e) => {
  const value = e.isMemory(1) ? e.load(e.linear(), 16) : lowWord(e);
  const at = I32.add(e.slot(0), I32.shl(laneNumber(e, 2, e.isMmx(0) ? 4 : 8), i32(1)));
  e.body.store(16, at, 0, value);
  if (e.isMmx(0)) e.putLow(0, extract('i64', e.vector(0), 0));
};

const lowWord = (e: Insn): Expr => {
  const value = e.read(1);
  return value.type === 'i64' ? wrap(value) : value;
};

const extractWord: Row = (e) => {
  const x = e.vector(1);
  const lane = laneNumber(e, 2, e.isMmx(1) ? 4 : 8);
  const first = I32.shl(lane, i32(1));
  const order = I8x16.add(I8x16.splat(first), constant128([0, 1, ...new Array(14).fill(0)]));
  const value = extract('i16', I8x16.swizzle(x, order), 0);
  e.write(0, !e.isMemory(0) && e.size(0) === 64 ? extendU(value) : value);
};

export const VECTOR_SHUFFLE: Rows = {
  Punpcklbw: unpack(1, false),
  Punpcklwd: unpack(2, false),
  Punpckldq: unpack(4, false),
  Punpcklqdq: unpack(8, false),
  Punpckhbw: unpack(1, true),
  Punpckhwd: unpack(2, true),
  Punpckhdq: unpack(4, true),
  Punpckhqdq: unpack(8, true),
  Unpcklps: unpack(4, false),
  Unpcklpd: unpack(8, false),
  Unpckhps: unpack(4, true),
  Unpckhpd: unpack(8, true),
  Packsswb: pack(I8x16.narrowS),
  Packuswb: pack(I8x16.narrowU),
  Packssdw: pack(I16x8.narrowS),
  Pshufd: shuffleDwords,
  Pshuflw: shuffleWords(false),
  Pshufhw: shuffleWords(true),
  Pshufw: shuffleMmx,
  Shufps: shuffleSingles,
  Shufpd: shuffleDoubles,
  Pinsrw: insertWord,
  Pextrw: extractWord,
};
