/** A finished run in the words of a table: from live registers, or from the frame of a signal. */
import { Frame } from '../abi/sigframe.ts';
import { hex, toHex } from '../base/bytes.ts';
import {
  FX_IMAGE_SIZE,
  Prot,
  type Reg,
  type RegisterFile,
  Reg as Registers,
} from '../cpu/engine.ts';
import { readFrame } from '../kernel/bare-guest.ts';
import type { AddressSpace } from '../memory/address-space.ts';
import { type ExecCase, REGISTERS, type Recorded } from './exec-table.ts';
import { xmmOf } from './fx-image.ts';
import type { Region } from './region.ts';
import type { Vectors } from './vectors.ts';

/** Vector registers that tables compare. */
const COMPARED = 16;

export const registerOf = (name: string): Reg =>
  REGISTERS.indexOf(name as (typeof REGISTERS)[number]) as Reg;

export const altOf = ({ alt }: ExecCase): bigint => BigInt(alt ?? 0);

const registers = (read: (name: (typeof REGISTERS)[number]) => bigint): Record<string, string> =>
  Object.fromEntries(REGISTERS.map((name) => [name, hex(read(name))]));

/**
 * The engines' register image ends with xmm: what only AVX reaches is as it was, which holds for an
 * engine without AVX; `limits.ts` keeps other engines away.
 */
export const stateAtCap = (
  regs: RegisterFile,
  end: 'cap0' | 'cap1' | null,
  { ymm, k1 }: Vectors,
): Omit<Recorded, 'mem'> => {
  const fx = new Uint8Array(FX_IMAGE_SIZE);
  regs.readFx(fx);
  const upper = (n: number): string => ymm[n]?.slice(32) ?? '0'.repeat(32);
  return {
    regs: registers((name) => regs.read(registerOf(name))),
    flags: hex(regs.read(Registers.Rflags)),
    end,
    ymm: xmmOf(fx, COMPARED).map((low, n) => low + upper(n)),
    k1,
  };
};

/** Preconditions: the task stands at the first instruction of a handler with SA_SIGINFO. */
export const stateInFrame = (regs: RegisterFile, space: AddressSpace): Omit<Recorded, 'mem'> => {
  const frame = new Uint8Array(Frame.size);
  space.read(regs.read(Registers.Rsp), frame);
  const { signal, code, address, word } = readFrame(frame);
  const fx = new Uint8Array(FX_IMAGE_SIZE);
  space.read(word('fpstate'), fx);
  return {
    regs: registers((name) => word(name)),
    flags: hex(word('flags')),
    end: null,
    signal: {
      signo: signal,
      code,
      addr: hex(address),
      ip: hex(word('ip')),
      trapno: Number(word('trapno')),
      err: Number(word('err')),
    },
    xmm: xmmOf(fx, COMPARED),
  };
};

/** Runs of bytes that are no longer the initial ones. */
export const changedMemory = (
  space: AddressSpace,
  regions: readonly Region[],
  alt: bigint,
): (readonly [string, string])[] =>
  regions.flatMap(({ address, prot, initial }) => {
    if (prot === Prot.None) return [];
    const before = initial(alt);
    const now = new Uint8Array(before.length);
    space.readForced(address, now);
    return changedRuns(before, now).map(
      ([from, to]) => [hex(address + BigInt(from)), toHex(now.subarray(from, to))] as const,
    );
  });

const changedRuns = (before: Uint8Array, now: Uint8Array): [from: number, to: number][] => {
  const runs: [number, number][] = [];
  for (let from = 0; from < now.length; from++) {
    if (now[from] === before[from]) continue;
    let to = from;
    while (to < now.length && now[to] !== before[to]) to++;
    runs.push([from, to]);
    from = to;
  }
  return runs;
};
