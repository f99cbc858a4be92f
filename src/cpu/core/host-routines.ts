/** Rare instructions, or rare cases of instructions, in TypeScript: what rows call with `host(name)`. */
import { cpuidLeaf } from './cpuid.ts';
import { Exit, STATE } from './layout.ts';
import type { GuestMemory } from './memory/guest-memory.ts';

/** What a routine may use. */
export interface HostContext {
  readonly memory: GuestMemory;
  /** Ticks of the time stamp counter. */
  readonly ticks: () => bigint;
}

/** Answers {@link DONE}, or the exit that the instruction takes unfinished. */
export type HostRoutine = (context: HostContext) => number;

export const DONE = -1;

const RAX = STATE.gpr;
const RCX = STATE.gpr + 8;
const RDX = STATE.gpr + 16;
const RBX = STATE.gpr + 24;

const cpuid: HostRoutine = ({ memory }) => {
  const { view } = memory.frames;
  const leaf = cpuidLeaf(view.getUint32(RAX, true), view.getUint32(RCX, true));
  const put = (at: number, value: number): void => view.setBigUint64(at, BigInt(value >>> 0), true);
  put(RAX, leaf.eax);
  put(RBX, leaf.ebx);
  put(RCX, leaf.ecx);
  put(RDX, leaf.edx);
  return DONE;
};

const rdtsc: HostRoutine = ({ memory, ticks }) => {
  const now = ticks();
  memory.frames.view.setBigUint64(RAX, now & 0xffff_ffffn, true);
  memory.frames.view.setBigUint64(RDX, (now >> 32n) & 0xffff_ffffn, true);
  return DONE;
};

/** RDX:RAX by the value in the scratch slot, which is not 0. */
const divide =
  (sign: boolean): HostRoutine =>
  ({ memory }) => {
    const { view } = memory.frames;
    const read = (at: number): bigint =>
      sign ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
    const dividend = (read(RDX) << 64n) | view.getBigUint64(RAX, true);
    const divisor = read(STATE.scratch);
    const quotient = dividend / divisor;
    const fits = sign ? BigInt.asIntN(64, quotient) : BigInt.asUintN(64, quotient);
    if (fits !== quotient) return Exit.DivideError;
    view.setBigInt64(RAX, quotient, true);
    view.setBigInt64(RDX, dividend % divisor, true);
    return DONE;
  };

export const HOST_ROUTINES: Readonly<Record<string, HostRoutine>> = {
  cpuid,
  rdtsc,
  divideSigned: divide(true),
  divideUnsigned: divide(false),
};
