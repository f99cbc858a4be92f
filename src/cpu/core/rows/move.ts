import type { Condition } from '../emit/flags.ts';
import { Gpr, type Row, type Rows } from '../emit/insn.ts';
import { intOf, low32, resized, type Size, signed32, topBit, trimmed } from '../emit/int.ts';
import { type Expr, extendU, I32, I64, i32, i64, select, wrap } from '../wasm/expr.ts';

/** A selector goes into a wider register with zeros above. */
const move: Row = (e) => e.write(0, resized(e.size(1), e.size(0), e.read(1), false));

const extend =
  (sign: boolean): Row =>
  (e) =>
    e.write(0, resized(e.size(1), e.size(0), e.read(1), sign));

/** CMOVcc reads its source, faults and all, whether or not it moves; a 32-bit register is always written. */
const conditional =
  (condition: Condition): Row =>
  (e) => {
    const source = e.read(1);
    e.write(0, select(e.flags.condition(condition), source, e.read(0)));
  };

const set =
  (condition: Condition): Row =>
  (e) =>
    e.write(0, e.flags.condition(condition));

const swapped32 = (x: Expr): Expr =>
  I32.or(
    I32.and(I32.rotl(x, i32(8)), i32(0x00ff00ff)),
    I32.and(I32.rotr(x, i32(8)), i32(0xff00ff00 | 0)),
  );

/** The bytes of a value in the other order. */
export const byteSwapped = (size: Size, x: Expr): Expr => {
  if (size === 16) return trimmed(16, I32.or(I32.shl(x, i32(8)), I32.shrU(x, i32(8))));
  if (size === 32) return swapped32(x);
  const low = extendU(swapped32(wrap(x)));
  const high = extendU(swapped32(wrap(I64.shrU(x, i64(32n)))));
  return I64.or(I64.shl(low, i64(32n)), high);
};

/** BSWAP of a 16-bit register is undefined; CPUs clear it. */
const swap: Row = (e) => e.write(0, e.size(0) === 16 ? i32(0) : byteSwapped(e.size(0), e.read(0)));

const widen =
  (to: 16 | 32 | 64): Row =>
  (e) => {
    const from = (to / 2) as Size;
    e.setGpr(Gpr.Rax, to, resized(from, to, e.gpr(Gpr.Rax, from), true));
  };

/** CWD, CDQ, CQO: the sign of the accumulator fills the data register. */
const fillSign =
  (size: 16 | 32 | 64): Row =>
  (e) => {
    const int = intOf(size);
    const top = topBit(size, e.gpr(Gpr.Rax, size));
    const value = size === 64 ? I64.sub(i64(0n), extendU(top)) : I32.sub(i32(0), top);
    e.setGpr(Gpr.Rdx, size, trimmed(size, int === I64 ? value : signed32(32, value)));
  };

const CONDITIONS: readonly Condition[] = [
  ...(['o', 'no', 'b', 'ae', 'e', 'ne', 'be', 'a'] as const),
  ...(['s', 'ns', 'p', 'np', 'l', 'ge', 'le', 'g'] as const),
];

export const MOVE: Rows = {
  Mov: move,
  Movzx: extend(false),
  Movsx: extend(true),
  Movsxd: extend(true),
  Lea: (e) => {
    const size = e.size(0);
    e.write(0, size === 64 ? e.address() : trimmed(size, low32(64, e.address())));
  },
  Bswap: swap,
  Movbe: (e) => e.write(0, byteSwapped(e.size(0), e.read(1))),
  Movnti: move,
  Cbw: widen(16),
  Cwde: widen(32),
  Cdqe: widen(64),
  Cwd: fillSign(16),
  Cdq: fillSign(32),
  Cqo: fillSign(64),
  Xlatb: (e) => {
    // The address is RBX + AL; the segment may be overridden.
    const at = I64.add(e.gpr(Gpr.Rbx, 64), extendU(e.gpr(Gpr.Rax, 8)));
    e.setGpr(Gpr.Rax, 8, e.load(e.implied(at), 8));
  },
  ...Object.fromEntries(
    CONDITIONS.flatMap((name) => [
      [`Cmov${name}`, conditional(name)],
      [`Set${name}`, set(name)],
    ]),
  ),
};
export { CONDITIONS };
