/** Expressions: a type and the bytes that compute a value of it. They have no effects, so may be used twice. */
import { signed32, signed64, type Type, unsigned } from './encode.ts';

export interface Expr {
  readonly type: Type;
  readonly code: readonly number[];
}

/** Concatenation without spreading: expressions nest deeply. */
const join = (parts: readonly (readonly number[])[]): number[] => {
  const bytes: number[] = [];
  for (const part of parts) for (const byte of part) bytes.push(byte);
  return bytes;
};

const apply = (type: Type, opcode: readonly number[], args: readonly Expr[]): Expr => ({
  type,
  code: join([...args.map(({ code }) => code), opcode]),
});

/** A mistake in a row shows where it is made, not when the module is compiled. */
const expect = (type: Type, args: readonly Expr[]): void => {
  for (const arg of args) if (arg.type !== type) throw new TypeError(`${arg.type} for ${type}`);
};

type Unary = (x: Expr) => Expr;
type Binary = (x: Expr, y: Expr) => Expr;

const unary =
  (type: Type, from: Type, opcode: number): Unary =>
  (x) => {
    expect(from, [x]);
    return apply(type, [opcode], [x]);
  };

const binary =
  (type: Type, from: Type, opcode: number): Binary =>
  (x, y) => {
    expect(from, [x, y]);
    return apply(type, [opcode], [x, y]);
  };

export const i32 = (value: number): Expr => ({ type: 'i32', code: [0x41, ...signed32(value)] });
export const i64 = (value: bigint): Expr => ({ type: 'i64', code: [0x42, ...signed64(value)] });

/** Integer operations of one width; comparisons answer i32. */
export interface IntOps {
  readonly type: 'i32' | 'i64';
  constant(value: bigint): Expr;
  readonly eqz: Unary;
  readonly eq: Binary;
  readonly ne: Binary;
  readonly ltS: Binary;
  readonly ltU: Binary;
  readonly gtS: Binary;
  readonly gtU: Binary;
  readonly leU: Binary;
  readonly geU: Binary;
  readonly clz: Unary;
  readonly ctz: Unary;
  readonly popcnt: Unary;
  readonly add: Binary;
  readonly sub: Binary;
  readonly mul: Binary;
  readonly divS: Binary;
  readonly divU: Binary;
  readonly remS: Binary;
  readonly remU: Binary;
  readonly and: Binary;
  readonly or: Binary;
  readonly xor: Binary;
  readonly shl: Binary;
  readonly shrS: Binary;
  readonly shrU: Binary;
  readonly rotl: Binary;
  readonly rotr: Binary;
  readonly not: Unary;
}

/** Opcodes of one width follow one another: comparisons from `compare`, arithmetic from `arithmetic`. */
const intOps = (type: 'i32' | 'i64', compare: number, arithmetic: number): IntOps => {
  const constant = (value: bigint): Expr =>
    type === 'i32' ? i32(Number(BigInt.asIntN(32, value))) : i64(value);
  const test = (n: number): Binary => binary('i32', type, compare + n);
  const count = (n: number): Unary => unary(type, type, arithmetic + n);
  const compute = (n: number): Binary => binary(type, type, arithmetic + n);
  const xor = compute(12);
  return {
    type,
    constant,
    eqz: unary('i32', type, compare),
    eq: test(1),
    ne: test(2),
    ltS: test(3),
    ltU: test(4),
    gtS: test(5),
    gtU: test(6),
    leU: test(8),
    geU: test(10),
    clz: count(0),
    ctz: count(1),
    popcnt: count(2),
    add: compute(3),
    sub: compute(4),
    mul: compute(5),
    divS: compute(6),
    divU: compute(7),
    remS: compute(8),
    remU: compute(9),
    and: compute(10),
    or: compute(11),
    xor,
    shl: compute(13),
    shrS: compute(14),
    shrU: compute(15),
    rotl: compute(16),
    rotr: compute(17),
    not: (x) => xor(x, constant(-1n)),
  };
};

export const I32 = intOps('i32', 0x45, 0x67);
export const I64 = intOps('i64', 0x50, 0x79);

export const wrap = unary('i32', 'i64', 0xa7);
export const extendS = unary('i64', 'i32', 0xac);
export const extendU = unary('i64', 'i32', 0xad);

/** Sign extension of the low 8 or 16 bits of an i32. */
export const signExtend32: Readonly<Record<8 | 16, Unary>> = {
  8: unary('i32', 'i32', 0xc0),
  16: unary('i32', 'i32', 0xc1),
};

export const select = (condition: Expr, yes: Expr, no: Expr): Expr =>
  apply(yes.type, [0x1b], [yes, no, condition]);

/** One bit, 0 or 1, of an i32. */
export const bit = (x: Expr, n: number): Expr =>
  n === 31 ? I32.shrU(x, i32(31)) : I32.and(I32.shrU(x, i32(n)), i32(1));

/** A load by its opcode; addresses count from the start of linear memory. */
const loader =
  (type: Type, ...opcode: readonly number[]) =>
  (address: Expr, offset = 0): Expr =>
    apply(type, [...opcode, 0, ...unsigned(offset)], [address]);

export const load = {
  i32: loader('i32', 0x28),
  i64: loader('i64', 0x29),
  u8: loader('i32', 0x2d),
  u16: loader('i32', 0x2f),
  v128: loader('v128', 0xfd, 0x00),
  /** The lower 32 or 64 bits, zeros above. */
  v128Low32: loader('v128', 0xfd, 92),
  v128Low64: loader('v128', 0xfd, 93),
} as const;

export const STORE_OPCODE = {
  8: [0x3a],
  16: [0x3b],
  32: [0x36],
  64: [0x37],
  128: [0xfd, 0x0b],
} as const;

/** A vector operation by its number after the prefix FD. */
export const vector =
  (type: Type, opcode: number, ...immediates: readonly number[]) =>
  (...args: readonly Expr[]): Expr =>
    apply(type, [0xfd, ...unsigned(opcode), ...immediates], args);

/** A scalar operation by its opcode. */
export const scalar =
  (type: Type, ...opcode: readonly number[]) =>
  (...args: readonly Expr[]): Expr =>
    apply(type, opcode, args);
