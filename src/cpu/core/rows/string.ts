/** String instructions: one iteration, then the next if REP says so. A fault comes before its iteration. */
import { Gpr, type Insn, type Row, type Rows } from '../emit/insn.ts';
import { intOf, type Size, trimmed } from '../emit/int.ts';
import { type Expr, I32 } from '../wasm/expr.ts';

type Iterate = (e: Insn, size: Size) => Expr | null;

const SIZES: Readonly<Record<string, Size>> = { b: 8, w: 16, d: 32, q: 64 };

const string =
  (size: Size, iterate: Iterate): Row =>
  (e) => {
    e.skipIfDone();
    e.again(iterate(e, size));
  };

const move: Iterate = (e, size) => {
  const value = e.load(e.stringAddress(Gpr.Rsi), size);
  e.store(e.stringAddress(Gpr.Rdi), size, value);
  e.stepString(Gpr.Rsi, size / 8);
  e.stepString(Gpr.Rdi, size / 8);
  return null;
};

const store: Iterate = (e, size) => {
  e.store(e.stringAddress(Gpr.Rdi), size, e.gpr(Gpr.Rax, size));
  e.stepString(Gpr.Rdi, size / 8);
  return null;
};

const load: Iterate = (e, size) => {
  const value = e.load(e.stringAddress(Gpr.Rsi), size);
  e.setGpr(Gpr.Rax, size, value);
  e.stepString(Gpr.Rsi, size / 8);
  return null;
};

/** REPE stops at a difference, REPNE at a match. */
const compared = (e: Insn, size: Size, x: Expr, y: Expr): Expr | null => {
  const r = e.body.let(trimmed(size, intOf(size).sub(x, y)));
  e.flags.sub(size, x, y, r);
  if (e.repeat === 'none') return null;
  const equal = intOf(size).eqz(r);
  return e.repeat === 'repne' ? equal : I32.eqz(equal);
};

const compare: Iterate = (e, size) => {
  const x = e.load(e.stringAddress(Gpr.Rsi), size);
  const y = e.load(e.stringAddress(Gpr.Rdi), size);
  e.stepString(Gpr.Rsi, size / 8);
  e.stepString(Gpr.Rdi, size / 8);
  return compared(e, size, x, y);
};

const scan: Iterate = (e, size) => {
  const y = e.load(e.stringAddress(Gpr.Rdi), size);
  e.stepString(Gpr.Rdi, size / 8);
  return compared(e, size, e.body.let(e.gpr(Gpr.Rax, size)), y);
};

const FAMILIES: Readonly<Record<string, Iterate>> = {
  Movs: move,
  Stos: store,
  Lods: load,
  Cmps: compare,
  Scas: scan,
};

/** Two mnemonics are shared with SSE; their string forms go by the form's name. */
const key = (family: string, letter: string): string => {
  const name = family + letter;
  if (name === 'Movsd') return 'Movsd_m32_m32';
  return name === 'Cmpsd' ? 'Cmpsd_m32_m32' : name;
};

export const STRING: Rows = Object.fromEntries(
  Object.entries(FAMILIES).flatMap(([family, iterate]) =>
    Object.entries(SIZES).map(([letter, size]) => [key(family, letter), string(size, iterate)]),
  ),
);
