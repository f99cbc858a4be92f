/** Rare instructions, or rare cases of instructions, in TypeScript: what rows call with `host(name)`. */

import { FX_IMAGE_SIZE } from '../engine.ts';
import { cpuidLeaf } from './cpuid.ts';
import { SSE_ROUTINES } from './float/sse-routines.ts';
import { readFxImage, writeFxImage } from './fx-image.ts';
import { DONE } from './host-result.ts';
import { Exit, How, STATE } from './layout.ts';
import type { GuestMemory } from './memory/guest-memory.ts';
import { X87_ROUTINES } from './x87/routines.ts';

/** What a routine may use. */
export interface HostContext {
  readonly memory: GuestMemory;
  /** Ticks of the time stamp counter. */
  readonly ticks: () => bigint;
}

/** Answers `DONE`, or the exit that the instruction takes unfinished. */
export type HostRoutine = (context: HostContext) => number;

/** Bytes of the image that FXSAVE writes. */
const FX_STORED = 416;
const MXCSR_OFFSET = 24;

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

/** The image stands where the scratch slot says. FXSAVE leaves its last 96 bytes alone. */
const imageAt = ({ memory }: HostContext): Uint8Array => {
  const at = memory.frames.view.getInt32(STATE.scratch, true);
  return memory.frames.bytes.subarray(at, at + FX_IMAGE_SIZE);
};

const fxsave: HostRoutine = (context) => {
  const image = new Uint8Array(FX_IMAGE_SIZE);
  readFxImage(context.memory.frames, image);
  imageAt(context).set(image.subarray(0, FX_STORED));
  return DONE;
};

/** Reserved bits of MXCSR are #GP. */
const fxrstor: HostRoutine = (context) => {
  const image = imageAt(context).slice();
  const mxcsr = new DataView(image.buffer).getUint32(MXCSR_OFFSET, true);
  if (mxcsr > 0xffff) return Exit.GeneralProtection;
  writeFxImage(context.memory.frames, image);
  return DONE;
};

/**
 * Address in the scratch slot, bytes in X, their masks in Y. Nothing is written unless all can be. MASKMOVQ wants
 * all of its bytes, MASKMOVDQU those that are chosen (SDM leaves it open; so do AMD's CPUs).
 */
const maskMove =
  (size: 8 | 16): HostRoutine =>
  ({ memory }) => {
    const { view, bytes } = memory.frames;
    const address = view.getBigUint64(STATE.scratch, true);
    const all = Array.from({ length: size }, (_, i) => i);
    const chosen = all.filter((i) => (bytes[STATE.vectorY + i]! & 0x80) !== 0);
    for (const i of size === 8 ? all : chosen) {
      const at = address + BigInt(i);
      if (memory.access(at, How.write | 1, false) !== 0) continue;
      // What is reported is the operand's first byte on the first page that is not there.
      if (memory.access(address, How.write | 1, false) !== 0) memory.fault.address = at & -4096n;
      return Exit.Fault;
    }
    for (const i of chosen)
      memory.poke(
        Number(BigInt.asUintN(64, address + BigInt(i))),
        memory.frames.bytes.slice(STATE.vectorX + i, STATE.vectorX + i + 1),
      );
    return DONE;
  };

export const HOST_ROUTINES: Readonly<Record<string, HostRoutine>> = {
  cpuid,
  rdtsc,
  divideSigned: divide(true),
  divideUnsigned: divide(false),
  fxsave,
  fxrstor,
  maskMove64: maskMove(8),
  maskMove128: maskMove(16),
  ...SSE_ROUTINES,
  ...X87_ROUTINES,
};
