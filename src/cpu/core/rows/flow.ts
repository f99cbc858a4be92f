import { Gpr, type Row, type Rows } from '../emit/insn.ts';
import { type Expr, extendU, I32, I64, i32, i64 } from '../wasm/expr.ts';
import { canonical } from './canonical.ts';
import { CONDITIONS } from './move.ts';
import { drop, push, top } from './stack.ts';

const direct = (name: string): boolean => /_rel/.test(name);

const jump: Row = (e) => (direct(e.name) ? e.jump() : e.jumpTo(canonical(e, e.read(0))));

const call: Row = (e) => {
  if (direct(e.name)) {
    push(e, 64, e.nextIp);
    return e.jump();
  }
  const target = canonical(e, e.read(0));
  push(e, 64, e.nextIp);
  e.jumpTo(target);
};

const goBack: Row = (e) => {
  const target = canonical(e, top(e, 64));
  const bytes = /imm16/.test(e.name) ? I64.add(i64(8n), extendU(e.read(0))) : i64(8n);
  drop(e, bytes);
  e.jumpTo(target);
};

/** LOOP, JRCXZ: the counter has the address size. */
const counter = (name: string): 32 | 64 => (/_ECX$|^Jecxz/.test(name) ? 32 : 64);

const loop =
  (condition: 'e' | 'ne' | null): Row =>
  (e) => {
    const size = counter(e.name);
    const one = size === 64 ? i64(1n) : i32(1);
    const int = size === 64 ? I64 : I32;
    e.setGpr(Gpr.Rcx, size, int.sub(e.gpr(Gpr.Rcx, size), one));
    const left = I32.eqz(int.eqz(e.gpr(Gpr.Rcx, size)));
    const taken: Expr = condition === null ? left : I32.and(left, e.flags.condition(condition));
    e.body.if(taken, () => e.jump());
    e.advance();
  };

const jumpIfZero: Row = (e) => {
  const size = counter(e.name);
  e.body.if((size === 64 ? I64 : I32).eqz(e.gpr(Gpr.Rcx, size)), () => e.jump());
  e.advance();
};

export const FLOW: Rows = {
  Jmp: jump,
  Call: call,
  Ret: goBack,
  Loop: loop(null),
  Loope: loop('e'),
  Loopne: loop('ne'),
  Jecxz: jumpIfZero,
  Jrcxz: jumpIfZero,
  ...Object.fromEntries(
    CONDITIONS.map((condition): [string, Row] => [
      `J${condition}`,
      (e) => {
        e.body.if(e.flags.condition(condition), () => e.jump());
        e.advance();
      },
    ]),
  ),
};
