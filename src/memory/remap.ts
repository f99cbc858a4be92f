import { least, PAGE_MASK, pageUp } from '../base/bytes.ts';
import { type Area, clip } from './area.ts';
import type { SpecialMapping } from './backing.ts';
import { TASK_SIZE } from './limits.ts';
import { unmappedArea } from './placement.ts';
import type { MemoryState } from './state.ts';
import type { MemoryErrno, RemapFlags } from './types.ts';
import { unmapRange } from './unmap.ts';

/** mremap(2): shrink in place, else grow in place, else move. One vma at a time. */
export const remapArea = (
  state: MemoryState,
  start: bigint,
  oldLength: bigint,
  newLength: bigint,
  flags: RemapFlags,
): bigint | MemoryErrno => {
  const oldSize = pageUp(oldLength);
  const newSize = pageUp(newLength);
  const refusal = refuse(start, oldSize, newSize, flags);
  if (refusal !== null) return refusal;
  const area = state.list.find(start);
  if (area === undefined) return 'EFAULT';
  if (area.special !== null) return remapSpecial(area.special, start, oldSize, newSize, flags);
  if (oldSize === 0n) return 'EINVAL';
  if (flags.fixed !== undefined) return moveTo(state, area, start, oldSize, newSize, flags.fixed);
  if (newSize <= oldSize) return shrink(state, start, oldSize, newSize);
  if (oldSize > area.end - start) return 'EFAULT';
  if (state.size() + newSize - oldSize > state.options.sizeLimit) return 'ENOMEM';
  if (grow(state, area, start, oldSize, newSize)) return start;
  if (!flags.mayMove) return 'ENOMEM';
  const place = unmappedArea(state, {
    size: newSize,
    shared: area.shared,
    ...(area.file !== null && {
      file: area.file,
      offset: area.offset + (start - area.start),
    }),
  });
  return place === undefined ? 'ENOMEM' : move(state, start, oldSize, newSize, place);
};

/** VM_DONTEXPAND, and an owner that lets its pages go nowhere. */
const remapSpecial = (
  special: SpecialMapping,
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
  { fixed }: RemapFlags,
): bigint | MemoryErrno => {
  if (oldSize === 0n) return 'EINVAL';
  if (newSize > oldSize) return 'EFAULT';
  if (newSize === oldSize && fixed === undefined) return start;
  return special.indivisible === true ? 'EINVAL' : 'EPERM';
};

const refuse = (
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
  { fixed, mayMove }: RemapFlags,
): MemoryErrno | null => {
  if ((start & PAGE_MASK) !== 0n || newSize <= 0n || newSize > TASK_SIZE) return 'EINVAL';
  if (fixed === undefined) return null;
  if (!mayMove || (fixed & PAGE_MASK) !== 0n || fixed > TASK_SIZE - newSize) return 'EINVAL';
  const overlaps = fixed < start + oldSize && start < fixed + newSize;
  return overlaps ? 'EINVAL' : null;
};

const shrink = (
  state: MemoryState,
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
): bigint | MemoryErrno => {
  if (newSize === oldSize) return start;
  return unmapRange(state, start + newSize, oldSize - newSize) ?? start;
};

/** vma_expandable: the whole tail of a vma, and nothing mapped behind it. */
const grow = (
  state: MemoryState,
  area: Area,
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
): boolean => {
  const end = start + newSize;
  if (start + oldSize !== area.end || end > TASK_SIZE) return false;
  if (state.list.overlapping(area.end, end).length > 0) return false;
  const pageOffset = area.pageOffset + (area.end - area.start);
  const whole = state.list.insert({
    ...area,
    start: area.end,
    end,
    offset: area.file === null ? 0n : pageOffset,
    pageOffset,
  });
  state.changed();
  state.listener?.mapped(whole);
  return true;
};

/** MREMAP_FIXED: what lies at the new place goes. */
const moveTo = (
  state: MemoryState,
  area: Area,
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
  to: bigint,
): bigint | MemoryErrno => {
  if (newSize === oldSize) return moveAll(state, start, oldSize, to);
  const size = least(oldSize, newSize);
  if (size > area.end - start) return 'EFAULT';
  if (state.size() + newSize - size > state.options.sizeLimit) return 'ENOMEM';
  unmapRange(state, to, newSize);
  if (newSize < oldSize) unmapRange(state, start + newSize, oldSize - newSize);
  return move(state, start, size, newSize, to);
};

/** remap_move (Linux 6.17): a plain move takes all vmas of the range along, gaps kept. */
const moveAll = (state: MemoryState, start: bigint, size: bigint, to: bigint): bigint => {
  for (const area of state.list.overlapping(start, start + size)) {
    const part = clip(area, start, start + size);
    const target = part.start - start + to;
    unmapRange(state, target, part.end - part.start);
    move(state, part.start, part.end - part.start, part.end - part.start, target);
  }
  return to;
};

/**
 * move_vma. Pages, breakpoints in them included, go along, so that the listener hears only of what
 * disappears (vma_merge_struct.skip_vma_uprobe).
 */
const move = (
  state: MemoryState,
  start: bigint,
  oldSize: bigint,
  newSize: bigint,
  to: bigint,
): bigint => {
  const area = clip(state.list.find(start) as Area, start, start + oldSize);
  // copy_vma: anonymous memory without pages starts afresh at its new place.
  const pageOffset = area.file === null && area.anonVma === 0 ? to : area.pageOffset;
  state.list.insert({ ...area, start: to, end: to + newSize, label: null, pageOffset });
  state.pages.move(area, oldSize, to);
  for (const run of state.copies.within(start, start + oldSize))
    state.copies.add(run.start - start + to, run.end - start + to);
  unmapRange(state, start, oldSize);
  state.changed();
  return to;
};
