import { greatest, least } from '../base/bytes.ts';
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

/**
 * Highest free run of `size` bytes inside [low, high). As unmapped_area_topdown has it, a gap that
 * is long enough but reaches into a stack's guard lowers the limit for everything below as well.
 */
export const highestFree = (
  list: VmaList,
  size: bigint,
  low: bigint,
  high: bigint,
): bigint | undefined => {
  let limit = high;
  const { searched } = list;
  const known = searched !== null && searched.high === high && searched.size <= size;
  for (let above = list.findOrNext((known ? searched.end : high) - 1n); ; ) {
    const top = above === undefined ? high : least(above.start, high);
    const below = list.before(top);
    const start = below === undefined ? low : greatest(below.end, low);
    const unlimited = limit === high;
    if (above !== undefined && least(top, limit) - start >= size)
      limit = least(limit, startWithGap(above));
    const end = least(top, limit);
    if (end - start >= size) {
      if (unlimited && above !== undefined) list.searched = { size, end: above.end, high };
      return end - size;
    }
    if (below === undefined || below.start <= low) return undefined;
    above = below;
  }
};
