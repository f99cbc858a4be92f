/** Instructions that are atomic with LOCK. One task runs at a time, so each of them is. */
import { Gpr, type Insn, type Row, type Rows } from '../emit/insn.ts';
import { intOf, trimmed } from '../emit/int.ts';
import { type Expr, extendU, I32, I64, i32, i64, select, wrap } from '../wasm/expr.ts';

const exchange: Row = (e) => {
  const y = e.read(1);
  const place = e.modify(0);
  place.put(y);
  e.write(1, place.value);
};

const exchangeAdd: Row = (e) => {
  const size = e.size(0);
  const y = e.read(1);
  const place = e.modify(0);
  const r = e.body.let(trimmed(size, intOf(size).add(place.value, y)));
  e.write(1, place.value);
  place.put(r);
  e.flags.add(size, place.value, y, r);
};

/** Memory is written in either case; of the registers, a 32-bit one keeps its upper half if it is not changed. */
const compareExchange: Row = (e) => {
  const size = e.size(0);
  const int = intOf(size);
  const y = e.read(1);
  const place = e.modify(0);
  const x = e.body.let(e.gpr(Gpr.Rax, size));
  const r = e.body.let(trimmed(size, int.sub(x, place.value)));
  const equal = e.body.let(int.eqz(r));
  e.body.if(
    equal,
    () => place.put(y),
    () => {
      if (e.isMemory(0)) place.put(place.value);
      e.setGpr(Gpr.Rax, size, place.value);
    },
  );
  e.flags.sub(size, x, place.value, r);
};

const joined = (e: Insn, high: number, low: number): Expr =>
  I64.or(I64.shl(extendU(e.gpr(high, 32)), i64(32n)), extendU(e.gpr(low, 32)));

/** CMPXCHG8B changes ZF alone. */
const compareExchange8: Row = (e) => {
  const place = e.modify(0);
  const equal = e.body.let(I64.eq(place.value, joined(e, Gpr.Rdx, Gpr.Rax)));
  place.put(select(equal, joined(e, Gpr.Rcx, Gpr.Rbx), place.value));
  e.body.if(I32.eqz(equal), () => {
    e.setGpr(Gpr.Rax, 32, wrap(place.value));
    e.setGpr(Gpr.Rdx, 32, wrap(I64.shrU(place.value, i64(32n))));
  });
  e.flags.set({ zf: equal });
};

const compareExchange16: Row = (e) => {
  const { at, done } = e.writable(e.linear(), 16, { aligned: true });
  const low = e.loaded(at, 64);
  const high = e.loaded(I32.add(at, i32(8)), 64);
  const same = (value: Expr, register: number): Expr => I64.eq(value, e.gpr(register, 64));
  const equal = e.body.let(I32.and(same(low, Gpr.Rax), same(high, Gpr.Rdx)));
  e.body.if(
    equal,
    () => {
      e.body.store(64, at, 0, e.gpr(Gpr.Rbx, 64));
      e.body.store(64, at, 8, e.gpr(Gpr.Rcx, 64));
    },
    () => {
      e.setGpr(Gpr.Rax, 64, low);
      e.setGpr(Gpr.Rdx, 64, high);
    },
  );
  done();
  e.flags.set({ zf: equal });
};

export const EXCHANGE: Rows = {
  Xchg: exchange,
  Xadd: exchangeAdd,
  Cmpxchg: compareExchange,
  Cmpxchg8b: compareExchange8,
  Cmpxchg16b: compareExchange16,
};
