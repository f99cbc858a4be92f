import type { Insn, Place, Row, Rows } from '../emit/insn.ts';
import { constant, intOf, low32, type Size, trimmed, zeroExtended } from '../emit/int.ts';
import { type Expr, extendU, I32, I64, i32, i64, select, wrap } from '../wasm/expr.ts';

type Change = ((size: Size, value: Expr, mask: Expr) => Expr) | null;

/** The place that holds the bit: with a register as offset, memory reaches as far as that goes (SDM, BT). */
const placeOf = (e: Insn, size: Size, offset: Expr, change: Change): Place => {
  const register = /_r(16|32|64)$/.test(e.name);
  if (!e.isMemory(0) || !register) {
    if (change !== null) return e.modify(0);
    return { value: e.read(0), put: () => {} };
  }
  const signed =
    size === 64
      ? offset
      : I64.shrS(I64.shl(extendU(offset), i64(BigInt(64 - size))), i64(BigInt(64 - size)));
  const units = I64.shrS(signed, i64(BigInt(Math.log2(size))));
  const address = e.body.let(I64.add(e.linear(), I64.mul(units, i64(BigInt(size / 8)))));
  if (change === null) return { value: e.load(address, size), put: () => {} };
  const { at, done } = e.writable(address, size / 8);
  return {
    value: e.loaded(at, size),
    put: (value) => {
      e.body.store(size, at, 0, value);
      done();
    },
  };
};

const bitTest =
  (change: Change): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const offset = e.read(1);
    const n = e.size(1) === 8 ? zeroExtended(8, offset) : offset;
    const wide = size === 64 ? (n.type === 'i64' ? n : extendU(n)) : n.type === 'i64' ? wrap(n) : n;
    const position = e.body.let(int.and(wide, constant(size, BigInt(size - 1))));
    const place = placeOf(e, size, wide, change);
    const found = int.and(int.shrU(place.value, position), int.constant(1n));
    const carry = e.body.let(low32(size, found));
    if (change !== null) place.put(change(size, place.value, int.shl(int.constant(1n), position)));
    e.flags.setCarry(carry);
  };

/** BSF and BSR leave the destination alone when there is no bit. */
const scan =
  (forward: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const x = e.read(1);
    const none = e.body.let(int.eqz(x));
    const top = int.constant(size === 64 ? 63n : 31n);
    e.body.if(I32.eqz(none), () => e.write(0, forward ? int.ctz(x) : int.sub(top, int.clz(x))));
    e.flags.set({ zf: none });
  };

/** TZCNT and LZCNT: CF if there is no bit, ZF if the count is 0. */
const count =
  (trailing: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const x = e.read(1);
    const none = e.body.let(int.eqz(x));
    // A 16-bit value stands in a 32-bit one.
    const excess = size === 16 ? 16n : 0n;
    const found = trailing
      ? int.ctz(size === 16 ? I32.or(x, i32(0x10000)) : x)
      : int.sub(int.clz(x), int.constant(excess));
    const r = e.body.let(found);
    e.write(0, r);
    e.flags.set({ cf: none, zf: int.eqz(r) });
  };

const population: Row = (e) => {
  const size = e.size(0);
  const r = e.body.let(intOf(size).popcnt(e.read(1)));
  e.write(0, r);
  const zero = i32(0);
  e.flags.set({ cf: zero, pf: zero, af: zero, zf: intOf(size).eqz(r), sf: zero, of: zero });
};

/** A BMI1 result: ZF and SF from it, OF clear. */
const result = (e: Insn, r: Expr, cf: Expr): void => {
  const size = e.size(0);
  const value = e.body.let(r);
  const carry = e.body.let(cf);
  e.write(0, value);
  e.flags.shifted(size, value, carry, i32(0));
};

const lowestBit =
  (compute: (e: Insn, x: Expr) => Expr, carryIfZero: boolean): Row =>
  (e) => {
    const x = e.read(1);
    const zero = intOf(e.size(0)).eqz(x);
    result(e, compute(e, x), carryIfZero ? zero : I32.eqz(zero));
  };

const minusOne = (e: Insn, x: Expr): Expr => intOf(e.size(0)).sub(x, intOf(e.size(0)).constant(1n));

/** BEXTR: start and length in the low two bytes. */
const extract: Row = (e) => {
  const size = e.size(0);
  const int = intOf(size);
  const x = e.read(1);
  const control = low32(size, e.read(2));
  const start = e.body.let(I32.and(control, i32(0xff)));
  const length = e.body.let(I32.and(I32.shrU(control, i32(8)), i32(0xff)));
  const wide = (n: Expr): Expr => (size === 64 ? extendU(n) : n);
  const shifted = select(I32.ltU(start, i32(size)), int.shrU(x, wide(start)), int.constant(0n));
  const mask = select(
    I32.ltU(length, i32(size)),
    int.sub(int.shl(int.constant(1n), wide(length)), int.constant(1n)),
    int.constant(-1n),
  );
  const r = e.body.let(int.and(shifted, mask));
  e.write(0, r);
  e.flags.shifted(size, r, i32(0), i32(0));
};

/** BZHI: clears the bits from a position on. */
const zeroHigh: Row = (e) => {
  const size = e.size(0);
  const int = intOf(size);
  const x = e.read(1);
  const n = e.body.let(I32.and(low32(size, e.read(2)), i32(0xff)));
  const beyond = I32.geU(n, i32(size));
  const wide = size === 64 ? extendU(n) : n;
  const mask = int.sub(int.shl(int.constant(1n), wide), int.constant(1n));
  result(e, select(beyond, x, int.and(x, mask)), beyond);
};

/** PDEP and PEXT, one mask bit a round. */
const scatter =
  (deposit: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const { body } = e;
    const x = body.let(e.read(1));
    const mask = body.let(e.read(2));
    const r = body.let(int.constant(0n));
    const n = body.let(int.constant(0n));
    body.if(I32.eqz(int.eqz(mask)), () =>
      body.loop(() => {
        const position = body.let(int.ctz(mask));
        const [from, to] = deposit ? [n, position] : [position, n];
        const one = int.and(int.shrU(x, from), int.constant(1n));
        body.set(r, int.or(r, int.shl(one, to)));
        body.set(n, int.add(n, int.constant(1n)));
        body.set(mask, int.and(mask, int.sub(mask, int.constant(1n))));
        return int.ne(mask, int.constant(0n));
      }),
    );
    e.write(0, r);
  };

export const BIT: Rows = {
  Bt: bitTest(null),
  Bts: bitTest((size, x, mask) => intOf(size).or(x, mask)),
  Btr: bitTest((size, x, mask) => intOf(size).and(x, intOf(size).not(mask))),
  Btc: bitTest((size, x, mask) => intOf(size).xor(x, mask)),
  Bsf: scan(true),
  Bsr: scan(false),
  Tzcnt: count(true),
  Lzcnt: count(false),
  Popcnt: population,
  Andn: (e) => {
    const size = e.size(0);
    const r = intOf(size).and(trimmed(size, intOf(size).not(e.read(1))), e.read(2));
    result(e, r, i32(0));
  },
  Blsi: lowestBit((e, x) => {
    const int = intOf(e.size(0));
    return int.and(x, int.sub(int.constant(0n), x));
  }, false),
  Blsr: lowestBit((e, x) => intOf(e.size(0)).and(x, minusOne(e, x)), true),
  Blsmsk: lowestBit((e, x) => intOf(e.size(0)).xor(x, minusOne(e, x)), true),
  Bextr: extract,
  Bzhi: zeroHigh,
  Pdep: scatter(true),
  Pext: scatter(false),
};
