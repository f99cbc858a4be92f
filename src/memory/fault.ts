import { pageDown } from '../base/bytes.ts';
import type { Access } from '../cpu/engine.ts';
import { type Area, permits } from './area.ts';
import { MMAP_MIN_ADDRESS, STACK_GUARD_GAP } from './limits.ts';
import { backedEnd } from './population.ts';
import type { MemoryState } from './state.ts';
import type { FaultOutcome } from './types.ts';

/** A page fault of user code, or of the kernel on its behalf. */
export const resolveFault = (state: MemoryState, address: bigint, access: Access): FaultOutcome => {
  const area = state.list.find(address) ?? growStack(state, address);
  if (area === undefined) return 'maperr';
  if (!permits(area.prot, access)) return 'accerr';
  return populate(state, area, address) ? 'resolved' : 'bus';
};

/** Makes the page at `address` present; false past the last page of the file. */
export const populate = (state: MemoryState, area: Area, address: bigint): boolean => {
  const page = pageDown(address);
  if (state.pages.present.has(page)) return true;
  if (page >= backedEnd(area)) return false;
  state.pages.around(area, page);
  return true;
};

/** expand_stack: a vma that grows down takes in the page of a fault below it. */
const growStack = (state: MemoryState, address: bigint): Area | undefined => {
  const { list, options } = state;
  const stack = list.findOrNext(address);
  if (stack === undefined || !stack.growsDown) return undefined;
  const start = pageDown(address);
  if (start < MMAP_MIN_ADDRESS || stack.end - start > options.stackLimit) return undefined;
  if (state.size() + (stack.start - start) > options.sizeLimit) return undefined;
  const below = list.before(stack.start);
  if (below !== undefined && !below.growsDown && below.prot !== 0) {
    if (start - below.end < STACK_GUARD_GAP) return undefined;
  }
  const grown: Area = { ...stack, start };
  list.cut(stack.start, stack.end);
  list.insert(grown);
  state.changed();
  return grown;
};
