import { greatest, least, PAGE_MASK, pageUp } from '../base/bytes.ts';
import { type Area, clip, mergeable, withProt } from './area.ts';
import type { MemoryState } from './state.ts';
import type { MemoryErrno } from './types.ts';
import { divides, splitAt } from './unmap.ts';
import type { VmaList } from './vma-list.ts';

/** mprotect(2). As in Linux, what lies before a hole has changed when ENOMEM comes back. */
export const protectRange = (
  state: MemoryState,
  start: bigint,
  length: bigint,
  prot: number,
): MemoryErrno | null => {
  if ((start & PAGE_MASK) !== 0n) return 'EINVAL';
  if (length === 0n) return null;
  const end = start + pageUp(length);
  if (end <= start) return 'ENOMEM';
  let next = start;
  for (const area of state.list.overlapping(start, end)) {
    if (area.start > next) return 'ENOMEM';
    if ((prot & ~area.mayProt) !== 0) return 'EACCES';
    if (divides(area, start, end)) return 'EINVAL';
    if (area.prot !== prot)
      changeProt(state, greatest(area.start, start), least(area.end, end), prot);
    next = area.end;
  }
  return next < end ? 'ENOMEM' : null;
};

/**
 * Listeners hear of what Linux calls uprobe_mmap for: vmas made by merging, and the halves of a
 * split, which still have their old rights then. A change of rights alone is silent.
 */
const changeProt = (state: MemoryState, start: bigint, end: bigint, prot: number): void => {
  const { list, pages } = state;
  const merges = mergesWithNeighbour(list, start, end, prot);
  if (!merges) {
    splitAt(state, start);
    splitAt(state, end);
  }
  const part = clip(list.find(start) as Area, start, end);
  list.cut(start, end);
  const whole = list.insert(withProt(part, prot));
  pages.protect(start, end, prot);
  state.changed();
  if (merges && whole.file !== null) state.listener?.mapped(whole);
};

const mergesWithNeighbour = (list: VmaList, start: bigint, end: bigint, prot: number): boolean => {
  const part = withProt(clip(list.find(start) as Area, start, end), prot);
  const below = list.find(start - 1n);
  const above = list.find(end);
  return (
    (below !== undefined && mergeable(below, part)) ||
    (above !== undefined && mergeable(part, above))
  );
};
