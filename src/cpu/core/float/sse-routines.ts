/** SSE floating point as host routines: operands and result stand in linear memory, flags go to MXCSR. */

import { DONE } from '../host-result.ts';
import type { HostContext, HostRoutine } from '../host-routines.ts';
import { Exit, STATE } from '../layout.ts';
import {
  add,
  type BinaryOperation,
  compare,
  convert,
  divide,
  type FloatContext,
  fromInteger,
  maximum,
  minimum,
  multiply,
  operand,
  squareRoot,
  subtract,
  toInteger,
} from './arithmetic.ts';
import {
  DOUBLE,
  Flag,
  type Format,
  indefinite,
  quieted,
  type Rounded,
  Rounding,
  SINGLE,
} from './format.ts';

/** MXCSR (SDM vol. 1, 10.2.3). */
const MXCSR = { denormalsAreZero: 1 << 6, masks: 7, rounding: 13, flushToZero: 1 << 15 } as const;
/** Exceptions found before the operation: they come before its result. */
const BEFORE = Flag.invalid | Flag.denormal | Flag.divideByZero;

const contextOf = (mxcsr: number): FloatContext => {
  const masked = (flag: number): boolean => ((mxcsr >> MXCSR.masks) & flag) !== 0;
  const underflowTraps = !masked(Flag.underflow);
  return {
    mode: ((mxcsr >> MXCSR.rounding) & 3) as Rounding,
    denormalsAreZero: (mxcsr & MXCSR.denormalsAreZero) !== 0,
    flush: (mxcsr & MXCSR.flushToZero) !== 0 && !underflowTraps,
    underflowTraps,
    overflowTraps: !masked(Flag.overflow),
  };
};

/** Element sizes in bytes. */
type Bytes = 4 | 8;

const readElement = (view: DataView, at: number, bytes: Bytes): bigint =>
  bytes === 4 ? BigInt(view.getUint32(at, true)) : view.getBigUint64(at, true);

const writeElement = (view: DataView, at: number, bytes: Bytes, value: bigint): void => {
  if (bytes === 4) view.setUint32(at, Number(value), true);
  else view.setBigUint64(at, value, true);
};

/** Notes exceptions in MXCSR; an unmasked one leaves the instruction undone. */
const settle = ({ memory }: HostContext, flags: number): number => {
  const { view } = memory.frames;
  const mxcsr = view.getUint32(STATE.mxcsr, true);
  const traps = ~(mxcsr >> MXCSR.masks) & 0x3f;
  const early = (flags & BEFORE & traps) !== 0;
  view.setUint32(STATE.mxcsr, mxcsr | (early ? flags & BEFORE : flags), true);
  return (flags & traps) === 0 ? DONE : Exit.SimdError;
};

interface Shape {
  readonly lanes: number;
  readonly from: Bytes;
  readonly to: Bytes;
}

type Lane = (x: bigint, y: bigint, context: FloatContext, predicate: number) => Rounded;

/** A routine that goes through lanes; what it does not write of the result is 0. */
const byLane =
  ({ lanes, from, to }: Shape, compute: Lane): HostRoutine =>
  (context) => {
    const { view, bytes } = context.memory.frames;
    const float = contextOf(view.getUint32(STATE.mxcsr, true));
    const predicate = view.getUint32(STATE.scratch, true);
    bytes.fill(0, STATE.vectorResult, STATE.vectorResult + 16);
    let flags = 0;
    for (let i = 0; i < lanes; i++) {
      const x = readElement(view, STATE.vectorX + i * from, from);
      const y = readElement(view, STATE.vectorY + i * from, from);
      const result = compute(x, y, float, predicate);
      flags |= result.flags;
      writeElement(view, STATE.vectorResult + i * to, to, result.bits);
    }
    return settle(context, flags);
  };

const FORMATS: readonly (readonly [name: string, format: Format, bytes: Bytes])[] = [
  ['f32', SINGLE, 4],
  ['f64', DOUBLE, 8],
];

const ARITHMETIC: Readonly<Record<string, BinaryOperation>> = {
  add,
  sub: subtract,
  mul: multiply,
  div: divide,
  min: minimum,
  max: maximum,
  sqrt: (format, _x, y, context) => squareRoot(format, y, context),
};

/** CMPPS predicates: which orders hold, whether unordered does, whether a quiet NaN signals. */
const holds = (predicate: number, order: number | undefined): boolean => {
  const plain = [order === 0, order === -1, order === 0 || order === -1, order === undefined];
  return plain[predicate & 3] !== ((predicate & 4) !== 0);
};
const SIGNALLING: ReadonlySet<number> = new Set([1, 2, 5, 6]);

const compared =
  (format: Format, ones: bigint): Lane =>
  (x, y, context, predicate) => {
    const found = compare(format, x, y, SIGNALLING.has(predicate), context);
    return { bits: holds(predicate, found.order) ? ones : 0n, flags: found.flags };
  };

/** COMISS: bit 0 CF, bit 2 PF, bit 6 ZF. */
const ordered =
  (format: Format, quietSignals: boolean): Lane =>
  (x, y, context) => {
    const { order, flags } = compare(format, x, y, quietSignals, context);
    const bits = order === undefined ? 0x45n : order === 0 ? 0x40n : order < 0 ? 1n : 0n;
    return { bits, flags };
  };

const truncating = (mode: boolean, context: FloatContext): Rounding =>
  mode ? Rounding.zero : context.mode;

const toIntegers = (
  format: Format,
  bytes: Bytes,
  width: 32 | 64,
  truncate: boolean,
  lanes: number,
) =>
  byLane({ lanes, from: bytes, to: (width / 8) as Bytes }, (_x, y, context) =>
    toInteger(format, y, width, truncating(truncate, context), context),
  );

const fromIntegers = (format: Format, to: Bytes, width: 32 | 64, lanes: number) =>
  byLane({ lanes, from: (width / 8) as Bytes, to }, (_x, y, context) =>
    fromInteger(format, BigInt.asIntN(width, y), context),
  );

const routines = new Map<string, HostRoutine>();
for (const [name, format, bytes] of FORMATS)
  for (const lanes of [1, 2, 4]) {
    const shape: Shape = { lanes, from: bytes, to: bytes };
    for (const [operation, compute] of Object.entries(ARITHMETIC))
      routines.set(
        `${operation}-${name}-${lanes}`,
        byLane(shape, (x, y, context) => compute(format, x, y, context)),
      );
    const ones = bytes === 4 ? 0xffff_ffffn : 0xffff_ffff_ffff_ffffn;
    routines.set(`compare-${name}-${lanes}`, byLane(shape, compared(format, ones)));
    routines.set(`order-${name}-${lanes}`, byLane(shape, ordered(format, true)));
    routines.set(`quiet-order-${name}-${lanes}`, byLane(shape, ordered(format, false)));
    for (const width of [32, 64] as const) {
      routines.set(`to-i${width}-${name}-${lanes}`, toIntegers(format, bytes, width, false, lanes));
      routines.set(`cut-i${width}-${name}-${lanes}`, toIntegers(format, bytes, width, true, lanes));
      routines.set(`from-i${width}-${name}-${lanes}`, fromIntegers(format, bytes, width, lanes));
    }
    const [to, other, otherBytes] = FORMATS[bytes === 4 ? 1 : 0]!;
    routines.set(
      `convert-${name}-${to}-${lanes}`,
      byLane({ lanes, from: bytes, to: otherBytes }, (_x, y, context) =>
        convert(format, other, y, context),
      ),
    );
  }

/** RCPPS and RSQRTPS: an approximation with an error below 1.5 * 2^-12; CPUs differ in which. */
const approximate =
  (compute: (x: number) => number): Lane =>
  (_x, y, context) => {
    const cell = new DataView(new ArrayBuffer(4));
    cell.setUint32(0, Number(operand(SINGLE, y, { ...context, denormalsAreZero: true }).bits));
    const x = cell.getFloat32(0);
    if (Number.isNaN(x)) return { bits: quieted(SINGLE, y), flags: 0 };
    cell.setFloat32(0, compute(x));
    const bits = BigInt(cell.getUint32(0));
    // The default NaN, also where JavaScript has another; and no more than 12 bits of fraction.
    return { bits: Number.isNaN(compute(x)) ? indefinite(SINGLE) : bits & ~0x7ffn, flags: 0 };
  };

for (const lanes of [1, 4]) {
  const shape: Shape = { lanes, from: 4, to: 4 };
  routines.set(
    `rcp-f32-${lanes}`,
    byLane(
      shape,
      approximate((x) => 1 / x),
    ),
  );
  const root = (x: number): number => 1 / (x < 0 ? Number.NaN : Math.sqrt(x));
  routines.set(`rsqrt-f32-${lanes}`, byLane(shape, approximate(root)));
}

export const SSE_ROUTINES: Readonly<Record<string, HostRoutine>> = Object.fromEntries(routines);
