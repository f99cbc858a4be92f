import type { Area } from './area.ts';
import { STACK_GUARD_GAP } from './limits.ts';
import type { VmaList } from './vma-list.ts';

/** vm_start_gap: the lowest address that counts as taken by the area. */
export const startWithGap = (area: Area): bigint => {
  if (!area.growsDown) return area.start;
  return area.start > STACK_GUARD_GAP ? area.start - STACK_GUARD_GAP : 0n;
};

/** Lowest free run of `size` bytes inside [low, high). */
export const lowestFree = (
  list: VmaList,
  size: bigint,
  low: bigint,
  high: bigint,
): bigint | undefined => {
  let start = low;
  for (let area = list.findOrNext(low); ; area = list.findOrNext(area.end)) {
    const taken = area === undefined ? high : startWithGap(area);
    const end = taken < high ? taken : high;
    if (end - start >= size) return start;
    if (area === undefined || area.end >= high) return undefined;
    if (area.end > start) start = area.end;
  }
};

/** Highest free run of `size` bytes inside [low, high). */
export const highestFree = (
  list: VmaList,
  size: bigint,
  low: bigint,
  high: bigint,
): bigint | undefined => {
  const above = list.findOrNext(high - 1n);
  let end = above !== undefined && startWithGap(above) < high ? startWithGap(above) : high;
  for (let area = list.before(above?.start ?? high); ; area = list.before(area.start)) {
    const start = area !== undefined && area.end > low ? area.end : low;
    if (end - start >= size) return end - size;
    if (area === undefined || area.start <= low) return undefined;
    const taken = startWithGap(area);
    if (taken < end) end = taken;
  }
};
