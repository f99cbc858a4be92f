import { greatest, PAGE_MASK, pageDown, pageUp } from '../base/bytes.ts';
import type { Inode } from './backing.ts';
import { highestFree, lowestFree, startWithGap } from './free-ranges.ts';
import { MMAP_MIN_ADDRESS, TASK_SIZE } from './limits.ts';
import type { MemoryState } from './state.ts';
import type { MapRequest, MemoryErrno } from './types.ts';

/** TASK_UNMAPPED_BASE: where the bottom-up search starts when the top-down one found nothing. */
const BOTTOM_UP_BASE = pageUp(TASK_SIZE / 3n);

/** PMD_SIZE, the size of a huge page. */
const HUGE = 2n << 20n;

/** Where a mapping goes, or why it cannot. `size` is whole pages. */
export const placeFor = (
  state: MemoryState,
  request: MapRequest,
  size: bigint,
): bigint | MemoryErrno => {
  const { address, placement = 'hint' } = request;
  if (placement === 'hint') return unmappedArea(state, { ...request, size }) ?? 'ENOMEM';
  if (address === undefined || (address & PAGE_MASK) !== 0n) return 'EINVAL';
  if (address < 0n || address > TASK_SIZE - size) return 'ENOMEM';
  if (address < MMAP_MIN_ADDRESS) return 'EPERM';
  const taken = state.list.overlapping(address, address + size).length > 0;
  return taken && placement === 'only' ? 'EEXIST' : address;
};

/** What the search for a place looks at. */
export interface PlaceRequest {
  readonly size: bigint;
  /** A hint, any byte of the first page. */
  readonly address?: bigint;
  readonly file?: Inode;
  readonly offset?: bigint;
  readonly shared?: boolean;
}

/** get_unmapped_area. */
export const unmappedArea = (state: MemoryState, request: PlaceRequest): bigint | undefined => {
  const page = pageDown(request.address ?? 0n);
  const hint = page === 0n ? undefined : greatest(page, MMAP_MIN_ADDRESS);
  return hugeArea(state, request, hint) ?? plainArea(state, request.size, hint);
};

/**
 * thp_get_unmapped_area: files (as ext4, xfs and btrfs have it), and private memory of whole huge
 * pages without a hint, are placed so that huge pages would fit.
 */
const hugeArea = (
  state: MemoryState,
  { size, file, offset = 0n, shared = false }: PlaceRequest,
  hint: bigint | undefined,
): bigint | undefined => {
  if (file === undefined && (shared || hint !== undefined || size % HUGE !== 0n)) return undefined;
  const firstWhole = (offset + HUGE - 1n) & ~(HUGE - 1n);
  if (offset + size < firstWhole + HUGE) return undefined;
  const start = plainArea(state, size + HUGE, hint);
  if (start === undefined || start === hint) return start;
  const ahead = (offset - start) & (HUGE - 1n);
  return start + (ahead === 0n ? HUGE : ahead);
};

/** arch_get_unmapped_area_topdown: the hint if it is free, else top-down, else bottom-up. */
const plainArea = (
  { list, options }: MemoryState,
  size: bigint,
  hint: bigint | undefined,
): bigint | undefined => {
  if (hint !== undefined && hint <= TASK_SIZE - size) {
    const next = list.findOrNext(hint);
    if (next === undefined || hint + size <= startWithGap(next)) return hint;
  }
  return (
    highestFree(list, size, MMAP_MIN_ADDRESS, options.mmapBase) ??
    lowestFree(list, size, BOTTOM_UP_BASE, TASK_SIZE)
  );
};
