/** x87 instructions as host routines. ST(i)'s number is in Y; the scratch slot has the memory operand, or where it stands. */

import { DONE } from '../host-result.ts';
import type { HostContext, HostRoutine } from '../host-routines.ts';
import { STATE } from '../layout.ts';
import { Fpu } from './fpu.ts';
import type { X87Instruction } from './instruction.ts';
import { X87 } from './instructions.ts';
import {
  loadEnvironment,
  loadState,
  maskAll,
  storeEnvironment,
  storeState,
  type Width,
} from './state.ts';

/** An 80-bit operand comes through X: it does not fit the scratch slot. */
const WIDE = /_m80/;

const routineOf = (name: string, { run, memory }: X87Instruction): HostRoutine => {
  const wide = WIDE.test(name);
  return ({ memory: guest }) => {
    const { view } = guest.frames;
    const scratch = view.getBigUint64(STATE.scratch, true);
    const high = BigInt(view.getUint16(STATE.vectorX + 8, true));
    const whole = wide ? (high << 64n) | view.getBigUint64(STATE.vectorX, true) : scratch;
    const i = view.getUint32(STATE.vectorY, true);
    const stored = run(new Fpu(guest.frames), { i, memory: memory === 'in' ? whole : 0n });
    if (stored !== undefined) storeBytes(view, Number(scratch), sizeOf(name), stored);
    return DONE;
  };
};

/** Bytes of a memory operand by its form's name. */
const sizeOf = (name: string): number => {
  const [, bits, bytes] = /_m(?:(\d+)(?:fp|int|bcd)|(\d+)byte)$/.exec(name) ?? [];
  return bits !== undefined ? Number(bits) / 8 : Number(bytes ?? 0);
};

const storeBytes = (view: DataView, at: number, bytes: number, value: bigint): void => {
  if (bytes >= 8) view.setBigUint64(at, BigInt.asUintN(64, value), true);
  if (bytes === 10) view.setUint16(at + 8, Number(value >> 64n), true);
  if (bytes === 4) view.setUint32(at, Number(value), true);
  if (bytes === 2) view.setUint16(at, Number(value), true);
};

type BlockAction = (fpu: Fpu, block: Uint8Array, width: Width) => void;

const block =
  (bytes: number, width: Width, action: BlockAction): HostRoutine =>
  ({ memory }: HostContext) => {
    const at = memory.frames.view.getInt32(STATE.scratch, true);
    action(new Fpu(memory.frames), memory.frames.bytes.subarray(at, at + bytes), width);
    return DONE;
  };

const storeAndMask: BlockAction = (fpu, into, width) => {
  storeEnvironment(fpu, into, width);
  maskAll(fpu);
};

const BLOCKS: Readonly<Record<string, BlockAction>> = {
  Fnstenv: storeAndMask,
  Fldenv: loadEnvironment,
  Fnsave: storeState,
  Frstor: loadState,
};

export const X87_BLOCKS: readonly (readonly [
  name: string,
  bytes: number,
  width: Width,
  action: BlockAction,
])[] = Object.entries(BLOCKS).flatMap(([name, action]) => {
  const [narrow, wide] = /env$/.test(name) ? [14, 28] : [94, 108];
  return [
    [`${name}_m${narrow}byte`, narrow!, 'narrow', action],
    [`${name}_m${wide}byte`, wide!, 'wide', action],
  ] as const;
});

export const X87_ROUTINES: Readonly<Record<string, HostRoutine>> = Object.fromEntries([
  ...Object.entries(X87).map(([name, entry]) => [name, routineOf(name, entry)]),
  ...X87_BLOCKS.map(([name, bytes, width, action]) => [name, block(bytes, width, action)]),
]);
