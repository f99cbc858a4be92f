/**
 * The arithmetic flags in two words, whatever instruction set them, so that no reader has to ask which:
 *
 * - `result`, 64 bits: the result, sign-extended. ZF = it is 0; SF = its sign; PF = parity of its low byte.
 * - `carries`, 32 bits: bit 31 CF, bit 30 CF ^ OF (the carry into the top bit), bit 3 AF; bit 0 inverts SF, bit 8
 *   inverts PF. Only flags that were set from outside need the last two.
 */
import { STATE } from '../layout.ts';
import type { Body } from '../wasm/body.ts';
import { bit, type Expr, extendS, I32, I64, i32, i64, load, wrap } from '../wasm/expr.ts';
import { intOf, type Size, signExtended } from './int.ts';

export const CARRY = { cf: 31, carryIn: 30, af: 3, invertSf: 0, invertPf: 8 } as const;
const TOP = 1 << 31;
const NEXT = 1 << 30;
const AF_BIT = 1 << CARRY.af;

export type FlagName = 'cf' | 'pf' | 'af' | 'zf' | 'sf' | 'of';
/** Flags as expressions of 0 or 1. */
export type FlagValues = Partial<Readonly<Record<FlagName, Expr>>>;

/** The sixteen conditions of jcc, setcc and cmovcc (SDM vol. 1, appendix B). */
export type Condition =
  | ('o' | 'no' | 'b' | 'ae' | 'e' | 'ne' | 'be' | 'a')
  | ('s' | 'ns' | 'p' | 'np' | 'l' | 'ge' | 'le' | 'g');

const not = (flag: Expr): Expr => I32.eqz(flag);

export class Flags {
  readonly #body: Body;

  constructor(body: Body) {
    this.#body = body;
  }

  get #result(): Expr {
    return load.i64(i32(0), STATE.result);
  }
  get #carries(): Expr {
    return load.i32(i32(0), STATE.carries);
  }

  get cf(): Expr {
    return bit(this.#carries, 31);
  }
  get of(): Expr {
    return I32.shrU(I32.xor(this.#carries, I32.shl(this.#carries, i32(1))), i32(31));
  }
  get af(): Expr {
    return bit(this.#carries, CARRY.af);
  }
  get zf(): Expr {
    return I64.eqz(this.#result);
  }
  get sf(): Expr {
    return I32.and(I32.xor(wrap(I64.shrU(this.#result, i64(63n))), this.#carries), i32(1));
  }
  get pf(): Expr {
    const low = I32.and(
      I32.xor(wrap(this.#result), I32.shrU(this.#carries, i32(CARRY.invertPf))),
      i32(0xff),
    );
    return not(I32.and(I32.popcnt(low), i32(1)));
  }

  /** 1 if the condition holds. */
  condition(name: Condition): Expr {
    const { cf, of, zf, sf, pf } = this;
    const less = I32.xor(sf, of);
    const table: Readonly<Record<Condition, Expr>> = {
      o: of,
      no: not(of),
      b: cf,
      ae: not(cf),
      e: zf,
      ne: not(zf),
      be: I32.or(cf, zf),
      a: not(I32.or(cf, zf)),
      s: sf,
      ns: not(sf),
      p: pf,
      np: not(pf),
      l: less,
      ge: not(less),
      le: I32.or(less, zf),
      g: not(I32.or(less, zf)),
    };
    return table[name];
  }

  /** ZF, SF, PF from a result, the rest as given. */
  setResult(size: Size, result: Expr, carries: Expr): void {
    const body = this.#body;
    body.storeAt(64, STATE.result, signExtended(size, result));
    body.storeAt(32, STATE.carries, carries);
  }

  /** After r = x + y (+ carry). */
  add(size: Size, x: Expr, y: Expr, r: Expr): void {
    const int = intOf(size);
    const out = int.or(int.and(x, y), int.and(int.or(x, y), int.not(r)));
    this.setResult(size, r, carriesOf(size, out));
  }

  /** After r = x - y (- borrow). */
  sub(size: Size, x: Expr, y: Expr, r: Expr): void {
    this.setResult(size, r, carriesOf(size, borrows(size, x, y, r)));
  }

  /** As after an addition or subtraction, but CF stays: INC, DEC. */
  keepingCarry(set: () => void): void {
    const body = this.#body;
    const before = body.let(I32.and(this.#carries, i32(TOP)));
    set();
    // CF ^ OF lies beside CF: what turns one turns the other.
    const turned = body.let(I32.xor(I32.and(this.#carries, i32(TOP)), before));
    body.storeAt(32, STATE.carries, I32.xor(this.#carries, both(turned)));
  }

  /** After AND, OR, XOR, TEST: CF = OF = 0. AF is undefined; cleared, as CPUs do. */
  logic(size: Size, r: Expr): void {
    this.setResult(size, r, i32(0));
  }

  /** `result` for ZF, SF, PF; CF, OF and AF as expressions of 0 or 1. */
  shifted(size: Size, result: Expr, cf: Expr, of: Expr, af: Expr = i32(0)): void {
    this.setResult(size, result, composed(cf, of, af));
  }

  /** Changes only CF. */
  setCarry(cf: Expr): void {
    const turned = I32.and(I32.xor(this.#carries, I32.shl(cf, i32(31))), i32(TOP));
    const body = this.#body;
    const bits = body.let(turned);
    body.storeAt(32, STATE.carries, I32.xor(this.#carries, both(bits)));
  }

  /** Changes only CF and OF. */
  setCarryAndOverflow(cf: Expr, of: Expr): void {
    const kept = I32.and(this.#carries, i32(~(TOP | NEXT)));
    this.#body.storeAt(32, STATE.carries, I32.or(kept, composed(cf, of, i32(0))));
  }

  /** Sets the flags given and leaves the others. */
  set(values: FlagValues): void {
    const body = this.#body;
    const get = (name: FlagName): Expr => body.let(values[name] ?? this[name]);
    const [cf, pf, af, zf, sf, of] = (['cf', 'pf', 'af', 'zf', 'sf', 'of'] as const).map(get);
    body.storeAt(64, STATE.result, extendS(I32.shl(I32.eqz(zf!), i32(8))));
    const inverted = I32.or(sf!, I32.shl(I32.eqz(pf!), i32(CARRY.invertPf)));
    body.storeAt(32, STATE.carries, I32.or(composed(cf!, of!, af!), inverted));
  }

  /** RFLAGS' arithmetic bits. */
  pack(): Expr {
    const parts: readonly (readonly [Expr, number])[] = [
      [this.cf, 0],
      [this.pf, 2],
      [this.af, 4],
      [this.zf, 6],
      [this.sf, 7],
      [this.of, 11],
    ];
    return parts.map(([flag, n]) => I32.shl(flag, i32(n))).reduce((a, b) => I32.or(a, b));
  }

  /** Sets the arithmetic flags from bits of RFLAGS. */
  unpack(word: Expr): void {
    this.set({
      cf: bit(word, 0),
      pf: bit(word, 2),
      af: bit(word, 4),
      zf: bit(word, 6),
      sf: bit(word, 7),
      of: bit(word, 11),
    });
  }
}

const both = (top: Expr): Expr => I32.or(top, I32.shrU(top, i32(1)));

const composed = (cf: Expr, of: Expr, af: Expr): Expr =>
  I32.or(
    I32.or(I32.shl(cf, i32(31)), I32.shl(I32.xor(cf, of), i32(30))),
    I32.shl(af, i32(CARRY.af)),
  );

/** Bit n: a borrow out of bit n of x - y = r. */
const borrows = (size: Size, x: Expr, y: Expr, r: Expr): Expr => {
  const int = intOf(size);
  return int.or(int.and(int.not(x), y), int.and(int.not(int.xor(x, y)), r));
};

/** A vector of carries out of each bit, brought into the form of `carries`. */
const carriesOf = (size: Size, out: Expr): Expr => {
  if (size === 32) return I32.and(out, i32(TOP | NEXT | AF_BIT));
  if (size === 64)
    return I32.or(
      I32.and(wrap(I64.shrU(out, i64(32n))), i32(TOP | NEXT)),
      I32.and(wrap(out), i32(AF_BIT)),
    );
  return I32.or(I32.and(I32.shl(out, i32(32 - size)), i32(TOP | NEXT)), I32.and(out, i32(AF_BIT)));
};
