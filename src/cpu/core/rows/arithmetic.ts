import type { Insn, Row, Rows } from '../emit/insn.ts';
import { constant, intOf, trimmed, zeroExtended } from '../emit/int.ts';
import { type Expr, I32 } from '../wasm/expr.ts';

/** CF as a value of the operand's size. */
const carryIn = (e: Insn, cf: Expr): Expr => (e.size(0) === 64 ? zeroExtended(32, cf) : cf);

const add =
  (withCarry: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const y = e.read(1);
    const place = e.modify(0);
    const sum = int.add(place.value, y);
    const r = e.body.let(trimmed(size, withCarry ? int.add(sum, carryIn(e, e.flags.cf)) : sum));
    place.put(r);
    e.flags.add(size, place.value, y, r);
  };

const subtract =
  (withBorrow: boolean): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const y = e.read(1);
    const place = e.modify(0);
    const difference = int.sub(place.value, y);
    const r = e.body.let(
      trimmed(size, withBorrow ? int.sub(difference, carryIn(e, e.flags.cf)) : difference),
    );
    place.put(r);
    e.flags.sub(size, place.value, y, r);
  };

const compare: Row = (e) => {
  const size = e.size(0);
  const x = e.read(0);
  const y = e.read(1);
  const r = e.body.let(trimmed(size, intOf(size).sub(x, y)));
  e.flags.sub(size, x, y, r);
};

const logic =
  (name: 'and' | 'or' | 'xor'): Row =>
  (e) => {
    const size = e.size(0);
    const y = e.read(1);
    const place = e.modify(0);
    const r = e.body.let(intOf(size)[name](place.value, y));
    place.put(r);
    e.flags.logic(size, r);
  };

const test: Row = (e) => {
  const size = e.size(0);
  e.flags.logic(size, e.body.let(intOf(size).and(e.read(0), e.read(1))));
};

const step =
  (name: 'add' | 'sub'): Row =>
  (e) => {
    const size = e.size(0);
    const place = e.modify(0);
    const one = constant(size, 1n);
    const r = e.body.let(trimmed(size, intOf(size)[name](place.value, one)));
    place.put(r);
    e.flags.keepingCarry(() => e.flags[name](size, place.value, one, r));
  };

const negate: Row = (e) => {
  const size = e.size(0);
  const place = e.modify(0);
  const zero = constant(size, 0n);
  const r = e.body.let(trimmed(size, intOf(size).sub(zero, place.value)));
  place.put(r);
  e.flags.sub(size, zero, place.value, r);
};

const invert: Row = (e) => {
  const size = e.size(0);
  const place = e.modify(0);
  place.put(trimmed(size, intOf(size).not(place.value)));
};

/** ADCX and ADOX: an addition with a carry chain of its own in CF or OF. */
const chained =
  (flag: 'cf' | 'of'): Row =>
  (e) => {
    const size = e.size(0);
    const int = intOf(size);
    const y = e.read(1);
    const x = e.read(0);
    const carry = e.body.let(e.flags[flag]);
    const r = e.body.let(int.add(int.add(x, y), carryIn(e, carry)));
    const overflowed = e.body.let(I32.or(int.ltU(r, x), I32.and(carry, int.eq(r, x))));
    e.write(0, r);
    if (flag === 'cf') e.flags.setCarry(overflowed);
    else e.flags.setCarryAndOverflow(e.flags.cf, overflowed);
  };

export const ARITHMETIC: Rows = {
  Add: add(false),
  Adc: add(true),
  Sub: subtract(false),
  Sbb: subtract(true),
  Cmp: compare,
  And: logic('and'),
  Or: logic('or'),
  Xor: logic('xor'),
  Test: test,
  Inc: step('add'),
  Dec: step('sub'),
  Neg: negate,
  Not: invert,
  Adcx: chained('cf'),
  Adox: chained('of'),
};
