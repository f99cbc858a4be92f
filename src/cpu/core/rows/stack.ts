import { Gpr, type Insn, type Row, type Rows } from '../emit/insn.ts';
import { STATE } from '../layout.ts';
import { type Expr, extendU, I32, I64, i32, i64, load, wrap } from '../wasm/expr.ts';

/** Operand size of a stack instruction: 64 bits unless the form says 16. */
const widthOf = (e: Insn): 16 | 64 => (/^(Push|Pop|Leave)w|_(r|rm|imm)16$/.test(e.name) ? 16 : 64);

const below = (e: Insn, bytes: number): Expr => I64.sub(e.gpr(Gpr.Rsp, 64), i64(BigInt(bytes)));

/** Stores below RSP, then moves it: a fault changes nothing. */
export const push = (e: Insn, size: 16 | 64, value: Expr): void => {
  const address = e.body.let(below(e, size / 8));
  e.store(address, size, value, { stack: true });
  e.setGpr(Gpr.Rsp, 64, address);
};

/** Loads from RSP; the caller moves it with {@link drop} when nothing can fault any more. */
export const top = (e: Insn, size: 16 | 64): Expr =>
  e.load(e.gpr(Gpr.Rsp, 64), size, { stack: true });

export const drop = (e: Insn, bytes: Expr): void =>
  e.setGpr(Gpr.Rsp, 64, I64.add(e.gpr(Gpr.Rsp, 64), bytes));

const bytesOf = (size: 16 | 64): Expr => i64(BigInt(size / 8));

const pushOperand: Row = (e) => {
  const size = widthOf(e);
  if (/_(FS|GS)$/.test(e.name)) {
    const selector = e.selector(/_FS$/.test(e.name) ? 4 : 5);
    return push(e, size, size === 64 ? extendU(selector) : selector);
  }
  push(e, size, e.read(0));
};

/** POP to memory computes its address with RSP already moved; the decoder has seen to that. */
const popOperand: Row = (e) => {
  const size = widthOf(e);
  const value = top(e, size);
  if (e.isMemory(0)) {
    e.write(0, value);
    drop(e, bytesOf(size));
  } else {
    // POP RSP: the value wins.
    drop(e, bytesOf(size));
    e.write(0, value);
  }
};

/** PUSHF shows RF and VM clear. */
const pushFlags =
  (size: 16 | 64): Row =>
  (e) => {
    const word = I32.or(e.flags.pack(), load.i32(i32(0), STATE.control));
    push(e, size, size === 64 ? extendU(word) : word);
  };

/** What user code can change, besides the arithmetic flags: TF, DF, NT, and in the upper half AC, ID. */
const CHANGEABLE = { 16: 0x4500, 64: 0x24_4500 } as const;
/** RF, which POPF clears. */
const RF = 0x1_0000;

const popFlags =
  (size: 16 | 64): Row =>
  (e) => {
    const value = top(e, size);
    drop(e, bytesOf(size));
    const word = e.body.let(size === 64 ? wrap(value) : value);
    e.flags.unpack(word);
    const mask = CHANGEABLE[size];
    const kept = I32.and(load.i32(i32(0), STATE.control), i32(~(mask | (size === 64 ? RF : 0))));
    e.body.storeAt(32, STATE.control, I32.or(kept, I32.and(word, i32(mask))));
    e.leave();
  };

/**
 * ENTER: pushes RBP, then the pointers to the frames of outer procedures and to this one, and makes room.
 * The registers change last.
 */
const enter: Row = (e) => {
  const size = /w_/.test(e.name) ? 16 : 64;
  const { body } = e;
  const level = body.let(I32.and(e.secondImmediate(), i32(31)));
  const frame = body.let(below(e, size / 8));
  const sp = body.let(frame);
  const outer = body.let(e.gpr(Gpr.Rbp, 64));
  e.store(sp, size, e.gpr(Gpr.Rbp, size), { stack: true });
  const descend = (pointer: typeof sp): void => body.set(pointer, I64.sub(pointer, bytesOf(size)));
  body.if(level, () => {
    body.if(I32.gtU(level, i32(1)), () =>
      body.loop(() => {
        descend(outer);
        descend(sp);
        e.store(sp, size, e.load(outer, size, { stack: true }), { stack: true });
        body.set(level, I32.sub(level, i32(1)));
        return I32.gtU(level, i32(1));
      }),
    );
    descend(sp);
    e.store(sp, size, size === 64 ? frame : wrap(frame), { stack: true });
  });
  e.setGpr(Gpr.Rsp, 64, I64.sub(sp, extendU(e.read(0))));
  e.setGpr(Gpr.Rbp, size, size === 64 ? frame : wrap(frame));
};

const leave: Row = (e) => {
  const size = widthOf(e);
  const value = e.load(e.gpr(Gpr.Rbp, 64), size, { stack: true });
  e.setGpr(Gpr.Rsp, 64, I64.add(e.gpr(Gpr.Rbp, 64), bytesOf(size)));
  e.setGpr(Gpr.Rbp, size, value);
};

export const STACK: Rows = {
  Push: pushOperand,
  Pop: popOperand,
  Pushf: pushFlags(16),
  Pushfq: pushFlags(64),
  Popf: popFlags(16),
  Popfq: popFlags(64),
  Enter: enter,
  Leave: leave,
};
