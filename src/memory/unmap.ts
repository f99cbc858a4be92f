import { greatest, least, PAGE_MASK, pageUp } from '../base/bytes.ts';
import type { Area } from './area.ts';
import { TASK_SIZE } from './limits.ts';
import type { MemoryState } from './state.ts';
import type { MemoryErrno } from './types.ts';

/** The range would leave a part of a mapping that has none. */
export const divides = (area: Area, start: bigint, end: bigint): boolean =>
  area.special?.indivisible === true && (area.start < start || area.end > end);

/** munmap(2). Holes in the range are no error. */
export const unmapRange = (
  state: MemoryState,
  start: bigint,
  length: bigint,
): MemoryErrno | null => {
  if ((start & PAGE_MASK) !== 0n || length <= 0n) return 'EINVAL';
  if (start < 0n || start > TASK_SIZE || length > TASK_SIZE - start) return 'EINVAL';
  const end = start + pageUp(length);
  const areas = state.list.overlapping(start, end);
  if (areas.length === 0) return null;
  if (areas.some((area) => divides(area, start, end))) return 'EINVAL';
  splitAt(state, start);
  splitAt(state, end);
  for (const area of state.list.overlapping(start, end))
    state.listener?.unmapping(area.start, area.end);
  state.pages.drop(start, end);
  state.copies.remove(start, end);
  state.list.cut(start, end);
  state.changed();
  return null;
};

/** Splits the vma around `address`, if there is one; for Linux both halves are then newly mapped. */
export const splitAt = (state: MemoryState, address: bigint): void => {
  const halves = state.list.split(address);
  if (halves === null) return;
  state.changed();
  for (const half of halves) if (half.file !== null) state.listener?.mapped(half);
};

/** Forgets pages, not vmas. Shared pages stay: their contents are the file's. */
export const discardPages = (state: MemoryState, start: bigint, length: bigint): void => {
  const end = start + pageUp(length);
  for (const area of state.list.overlapping(start, end)) {
    if (area.shared || area.special !== null) continue;
    const low = greatest(area.start, start);
    const high = least(area.end, end);
    state.pages.drop(low, high);
    state.copies.remove(low, high);
  }
  // Windows over the pages must not outlive them.
  state.changed();
};
