/** Moves of MMX and SSE registers that do not look at what they move. */
import { FX_IMAGE_SIZE } from '../../engine.ts';
import { Gpr, type Insn, type Row, type Rows } from '../emit/insn.ts';
import { STATE } from '../layout.ts';
import { type Expr, extendU, I32, i32, load } from '../wasm/expr.ts';
import { extract, I8x16, I32x4, I64x2, replace, shuffle, ZERO } from '../wasm/simd.ts';

const ALIGNED = { aligned: true } as const;

const move =
  (aligned: boolean): Row =>
  (e) => {
    const options = aligned ? ALIGNED : {};
    e.putVector(0, e.vector(1, options), options);
  };

/** MOVSS and MOVSD: from memory the rest becomes 0, from a register it stays. */
const moveScalar =
  (lane: 'i32' | 'i64'): Row =>
  (e) => {
    const value = extract(lane, e.vector(1), 0);
    if (e.isMemory(1)) e.putVector(0, e.vector(1));
    else e.putLow(0, value);
  };

/** MOVQ between vector registers clears the upper half. */
const moveQuad: Row = (e) => {
  if (/_r(m)?64/.test(e.name) || e.isMmx(0)) return moveGeneral('i64')(e);
  const value = extract('i64', e.vector(1), 0);
  if (e.isMemory(0)) e.putLow(0, value);
  else e.putVector(0, replace('i64', ZERO, 0, value));
};

const isGeneral = (e: Insn, i: number): boolean => /^(rm|r)(32|64)/.test(e.name.split('_')[i + 1]!);

/** MOVD and MOVQ from and to general registers or memory. */
const moveGeneral =
  (lane: 'i32' | 'i64'): Row =>
  (e) => {
    if (isGeneral(e, 0)) return e.write(0, extract(lane, e.vector(1), 0));
    const value = isGeneral(e, 1) ? e.read(1) : extract(lane, e.vector(1), 0);
    if (e.isMmx(0)) e.putLow(0, value.type === 'i64' ? value : extendU(value));
    else if (e.isMemory(0)) e.putLow(0, value);
    else e.putVector(0, replace(lane, ZERO, 0, value));
  };

/** MOVLPS and its like: one half of a register from or to memory. */
const moveHalf =
  (half: 0 | 1): Row =>
  (e) => {
    if (e.isMemory(0)) return e.putLow(0, extract('i64', e.vector(1), half));
    const value = extract('i64', e.vector(1), 0);
    e.putVector(0, replace('i64', e.vector(0), half, value));
  };

const crossHalves =
  (to: 0 | 1, from: 0 | 1): Row =>
  (e) =>
    e.putVector(0, replace('i64', e.vector(0), to, extract('i64', e.vector(1), from)));

const moveMask =
  (mask: (x: Expr) => Expr): Row =>
  (e) => {
    const bits = mask(e.vector(1));
    e.write(0, e.size(0) === 64 ? extendU(bits) : bits);
  };

const duplicate =
  (bytes: readonly number[]): Row =>
  (e) => {
    const x = e.vector(1, e.vectorBits(1) === 128 ? ALIGNED : {});
    e.putVector(0, shuffle(x, x, bytes));
  };

const words = (...numbers: readonly number[]): number[] =>
  numbers.flatMap((n) => [4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3]);

/** EMMS: every x87 register is free, and TOP 0 as after every MMX instruction. */
const emms: Row = (e) => {
  e.takeStack();
  e.body.storeAt(8, STATE.ftw, i32(0));
};

const loadControl: Row = (e) => {
  const value = e.read(0);
  e.body.if(I32.and(value, i32(~0xffff)), () => e.trap('GeneralProtection'));
  e.body.storeAt(32, STATE.mxcsr, value);
};

/** MASKMOVDQU: bytes whose mask byte has its top bit. All that are written are checked before. */
const storeMasked: Row = (e) => {
  e.body.storeAt(128, STATE.vectorX, e.vector(1));
  e.body.storeAt(128, STATE.vectorY, e.vector(2));
  // Also if the store faults.
  if (e.isMmx(1)) e.takeStack();
  e.scratch(e.implied(e.gpr(Gpr.Rdi, 64)));
  e.host(e.isMmx(1) ? 'maskMove64' : 'maskMove128');
};

const save: Row = (e) => {
  const { at, done } = e.writable(e.linear(), FX_IMAGE_SIZE, ALIGNED);
  e.scratch(extendU(at));
  e.host('fxsave');
  done();
};

const restore: Row = (e) => {
  e.scratch(extendU(e.readable(e.linear(), FX_IMAGE_SIZE, ALIGNED)));
  e.host('fxrstor');
};

export const VECTOR_MOVE: Rows = {
  Movaps: move(true),
  Movapd: move(true),
  Movdqa: move(true),
  Movups: move(false),
  Movupd: move(false),
  Movdqu: move(false),
  Lddqu: move(false),
  Movntps: move(true),
  Movntpd: move(true),
  Movntdq: move(true),
  Movntdqa: move(true),
  Movntq: move(false),
  Movss: moveScalar('i32'),
  Movsd: moveScalar('i64'),
  Movq: moveQuad,
  Movd: moveGeneral('i32'),
  Movlps: moveHalf(0),
  Movlpd: moveHalf(0),
  Movhps: moveHalf(1),
  Movhpd: moveHalf(1),
  Movhlps: crossHalves(0, 1),
  Movlhps: crossHalves(1, 0),
  Movq2dq: (e) => e.putVector(0, e.vector(1)),
  Movdq2q: (e) => e.putLow(0, extract('i64', e.vector(1), 0)),
  Movmskps: moveMask(I32x4.bitmask),
  Movmskpd: moveMask(I64x2.bitmask),
  Pmovmskb: (e) =>
    moveMask((x) => (e.isMmx(1) ? I32.and(I8x16.bitmask(x), i32(0xff)) : I8x16.bitmask(x)))(e),
  Movsldup: duplicate(words(0, 0, 2, 2)),
  Movshdup: duplicate(words(1, 1, 3, 3)),
  Movddup: duplicate(words(0, 1, 0, 1)),
  Emms: emms,
  Ldmxcsr: loadControl,
  Stmxcsr: (e) => e.write(0, load.i32(i32(0), STATE.mxcsr)),
  Fxsave: save,
  Fxsave64: save,
  Fxrstor: restore,
  Fxrstor64: restore,
  Maskmovdqu: storeMasked,
  Maskmovq: storeMasked,
};
