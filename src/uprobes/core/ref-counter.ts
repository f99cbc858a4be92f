/** Reference counters: 16-bit words that a program tests before it prepares a probe's arguments (spec section 2.9). */
import { view } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import { addressOfOffset, coversOffset, type Vma } from '../../memory/vma.ts';
import type { MmState } from './mm-state.ts';
import type { Shared } from './shared.ts';
import type { Uprobe } from './uprobe.ts';

/** A writable private mapping of the probed file that covers the counter. */
const holdsCounter = (uprobe: Uprobe, vma: Vma): boolean =>
  uprobe.refCtrOffset !== 0n &&
  vma.file === uprobe.inode &&
  !vma.shared &&
  (vma.prot & Prot.Write) !== 0 &&
  coversOffset(vma, uprobe.refCtrOffset);

const addTo = (space: AddressSpace, address: bigint, step: number): 'EINVAL' | 'EFAULT' | null => {
  const word = new Uint8Array(2);
  if (space.read(address, word) < word.length) return 'EFAULT';
  const value = view(word).getInt16(0, true) + step;
  if (value < 0) return 'EINVAL';
  view(word).setInt16(0, value, true);
  return space.write(address, word) === word.length ? null : 'EFAULT';
};

const warn = (shared: Shared, uprobe: Uprobe, step: number): void =>
  shared.kernel.log(
    `ref_ctr ${step > 0 ? 'increment' : 'decrement'} failed for inode: ${uprobe.inode.path} offset: 0x${uprobe.offset.toString(16)} ref_ctr_offset: 0x${uprobe.refCtrOffset.toString(16)}`,
  );

/** A breakpoint was really written (`step` 1) or really taken out (-1) in this mm. */
export const changeRefCounter = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  step: number,
): 'EINVAL' | 'EFAULT' | null => {
  if (uprobe.refCtrOffset === 0n) return null;
  const { space } = state.mm;
  const vma = space.vmas().find((candidate) => holdsCounter(uprobe, candidate));
  let error: 'EINVAL' | 'EFAULT' | null = null;
  if (vma !== undefined) {
    error = addTo(space, addressOfOffset(vma, uprobe.refCtrOffset), step);
    if (error !== null) warn(shared, uprobe, step);
    if (step > 0) return error;
  }
  if (step > 0) state.pendingCounters.add(uprobe);
  else state.pendingCounters.delete(uprobe);
  return error;
};

/** A writable mapping appeared: counters that waited for it are incremented now. */
export const countPending = (shared: Shared, state: MmState, vma: Vma): void => {
  for (const uprobe of [...state.pendingCounters]) {
    if (!holdsCounter(uprobe, vma)) continue;
    const address = addressOfOffset(vma, uprobe.refCtrOffset);
    if (addTo(state.mm.space, address, 1) !== null) warn(shared, uprobe, 1);
    state.pendingCounters.delete(uprobe);
  }
};
