/** From exception numbers to traps of the contract. */
import { pageDown, s64, u64 } from '../../base/bytes.ts';
import { type MemoryUse, Scanner } from '../../x86/decode.ts';
import { type Access, Prot, Reg, type TrapKind } from '../engine.ts';
import { type GuestMemory, USER_END } from './memory.ts';
import type { UnicornRegisters } from './registers.ts';
import type { CpuState } from './state.ts';

/** SDM vol. 3, table 6-1; 3 and 14 need a closer look. */
export const TRAP_OF_VECTOR: Readonly<Record<number, TrapKind>> = {
  0: 'divide-error',
  1: 'debug',
  10: 'general-protection',
  11: 'general-protection',
  12: 'stack-fault',
  13: 'general-protection',
  14: 'page-fault',
  16: 'fpu-error',
  17: 'general-protection',
  19: 'simd-error',
};

const MAX_LENGTH = 15;
const scanner = new Scanner();

/** Decodes the instruction at RIP as far as its bytes are there; undefined when none is. */
const decodeAt = (memory: GuestMemory, rip: bigint): Scanner | undefined => {
  if (rip >= BigInt(USER_END)) return undefined;
  const at = Number(rip);
  const bytes: number[] = [];
  for (let i = 0; i < MAX_LENGTH && memory.protAt(at + i) !== undefined; i++)
    bytes.push(memory.byteAt(at + i)!);
  if (bytes.length === 0) return undefined;
  scanner.open(Uint8Array.from(bytes), rip);
  return scanner.next() ? scanner : undefined;
};

/** Text of the instruction at RIP. */
export const textAt = (memory: GuestMemory, rip: bigint): string =>
  decodeAt(memory, rip)?.text() ?? '(no instruction)';

/** Whether the instruction at RIP is one that CPUs have. */
export const definedAt = (memory: GuestMemory, rip: bigint): boolean =>
  decodeAt(memory, rip)?.facts.undefined === false;

/** Length of the instruction at RIP, or 0 when it is not there in full. */
export const lengthAt = (memory: GuestMemory, rip: bigint): number => {
  const decoded = decodeAt(memory, rip);
  return decoded === undefined || decoded.truncated ? 0 : decoded.length;
};

const INT_6 = [0xcd, 6] as const;

/** The end of an `int 6` at RIP (2.0) or just behind it (1.0), else undefined. */
export const endOfInt6 = (memory: GuestMemory, state: CpuState): bigint | undefined => {
  const at = Number(state.rip);
  const isAt = (address: number): boolean =>
    INT_6.every((byte, i) => memory.byteAt(address + i) === byte);
  if (isAt(at)) return state.rip + BigInt(INT_6.length);
  return state.isSoftware && isAt(at - INT_6.length) ? state.rip : undefined;
};

/** Mnemonic of the instruction at RIP. */
export const mnemonicAt = (memory: GuestMemory, rip: bigint): string =>
  decodeAt(memory, rip)?.facts.mnemonic ?? '';

/** The address of an operand with the registers as they are. */
export const effectiveAddress = (use: MemoryUse, regs: UnicornRegisters): bigint => {
  let address = use.displacement;
  if (use.base !== null) address += regs.read(use.base as Reg);
  if (use.index !== null) address += regs.read(use.index as Reg) * BigInt(use.scale);
  if (use.segment === 'fs') address += regs.read(Reg.FsBase);
  if (use.segment === 'gs') address += regs.read(Reg.GsBase);
  return u64(address);
};

/** Neither half of the address space (SDM vol. 1, 3.3.7.1). */
const nonCanonical = (address: bigint): boolean => {
  const high = s64(address) >> 47n;
  return high !== 0n && high !== -1n;
};

/** A #GP is a #SS when the bad address came through RSP or RBP (SDM vol. 3, 6.15). */
export const protectionKind = (memory: GuestMemory, regs: UnicornRegisters): TrapKind => {
  const uses = decodeAt(memory, regs.read(Reg.Rip))?.memory() ?? [];
  const stack = uses.some(
    (use) => use.segment === 'ss' && nonCanonical(effectiveAddress(use, regs)),
  );
  return stack ? 'stack-fault' : 'general-protection';
};

const within = (address: bigint, start: bigint, size: number): boolean =>
  u64(address - start) < BigInt(size);

/** What a page fault wanted, and the first byte that was not there. */
export interface FaultFacts {
  readonly access: Access;
  readonly address: bigint;
}

/** Unicorn splits accesses, so the byte it names may lie this far beside the operand's. */
const SLACK = 15n;

/**
 * What the page fault at RIP wanted. Two things are put right: QEMU reads first what it will write, while the
 * CPU asks for both at once (SDM vol. 3, 4.7); and the CPU names the first byte that is missing.
 */
export const faultFacts = (
  memory: GuestMemory,
  regs: UnicornRegisters,
  state: CpuState,
): FaultFacts => {
  const { rip, faultAddress: address, faultWrites } = state;
  if (!faultWrites && within(address, rip, MAX_LENGTH) && !executable(memory, address))
    return { access: 'exec', address };
  const near = address - SLACK;
  const operand = (decodeAt(memory, rip)?.memory() ?? [])
    .filter((use) => (faultWrites ? use.writes : use.reads))
    .map((use) => ({ use, start: effectiveAddress(use, regs) }))
    .filter(({ use, start }) => within(start, near, 2 * Number(SLACK) + use.size))
    .sort((a, b) => distance(a.start, address) - distance(b.start, address))[0];
  if (operand === undefined) return { access: faultWrites ? 'write' : 'read', address };
  let first = pageDown(address);
  if (first < operand.start) first = operand.start;
  return { access: operand.use.writes ? 'write' : 'read', address: first };
};

const distance = (a: bigint, b: bigint): number => Math.abs(Number(s64(a - b)));

const executable = (memory: GuestMemory, address: bigint): boolean =>
  address < BigInt(USER_END) && ((memory.protAt(Number(address)) ?? 0) & Prot.Exec) !== 0;
