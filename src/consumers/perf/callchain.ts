/** User call chains through frame pointers (perf_callchain_user), and what return probes do to them. */
import { CONTEXT_USER } from '../../abi/perf.ts';
import { Reg } from '../../cpu/engine.ts';
import { type AddressSpace, TASK_SIZE } from '../../memory/address-space.ts';
import type { Hit, PendingReturns, Profile } from '../../uprobes/index.ts';
import type { RecordWriter } from './record-writer.ts';

/** What decides about the chain besides the task's state. */
export interface CallchainRules {
  readonly rule: Profile['userCallchains'];
  /** Frames at most, the first address included. */
  readonly maxStack: number;
  /** exclude_callchain_user: the chain has no entry at all. */
  readonly excluded: boolean;
}

/** next frame and return address. */
const FRAME_SIZE = 16n;

/** The frame pointers of user code, as far as they can be read. */
const walkFrames = (space: AddressSpace, first: bigint, chain: bigint[], most: number): void => {
  let frame = first;
  while (chain.length < most && frame <= TASK_SIZE - FRAME_SIZE) {
    const next = space.readU64(frame);
    if (next === undefined) return;
    const address = space.readU64(frame + 8n);
    if (address === undefined) return;
    chain.push(address);
    frame = next;
  }
};

/**
 * Trampoline addresses are replaced by what they hide, newest first. Functions entered by a jump
 * share one address on the stack but have an entry each, so that what lies above them gets the
 * wrong one: the kernel's way.
 */
const showReturns = (chain: bigint[], { trampoline, originals }: PendingReturns): void => {
  let next = 0;
  for (let i = 0; i < chain.length && next < originals.length; i++)
    if (chain[i] === trampoline) chain[i] = originals[next++]!;
};

/**
 * Writes the chain of a hit: number of entries, then PERF_CONTEXT_USER and the addresses.
 * @param atPush the probed instruction is the `push %rbp` a function begins with
 */
export const writeCallchain = (
  into: RecordWriter,
  hit: Hit,
  rules: CallchainRules,
  atPush: boolean,
  pending: PendingReturns | null,
): void => {
  if (rules.excluded) {
    into.u64(0n);
    return;
  }
  const { space } = hit.task.mm;
  const chain: bigint[] = [hit.regs.read(Reg.Rip)];
  // rbp is still the caller's: without this its own return address would be missing.
  if (atPush && rules.rule === 'returns-and-push' && chain.length < rules.maxStack) {
    const caller = space.readU64(hit.regs.read(Reg.Rsp));
    if (caller !== undefined) chain.push(caller);
  }
  walkFrames(space, hit.regs.read(Reg.Rbp), chain, rules.maxStack);
  if (pending !== null && rules.rule !== 'as-on-stack') showReturns(chain, pending);
  into.u64(BigInt(chain.length + 1));
  into.u64(CONTEXT_USER);
  for (const address of chain) into.u64(address);
};
