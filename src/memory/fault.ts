import { pageDown } from '../base/bytes.ts';
import type { Access } from '../cpu/engine.ts';
import { type Area, mergeable, permits } from './area.ts';
import { MMAP_MIN_ADDRESS, STACK_GUARD_GAP } from './limits.ts';
import { backedEnd } from './population.ts';
import type { MemoryState } from './state.ts';
import type { FaultOutcome } from './types.ts';

/** A page fault of user code, or of the kernel on its behalf. */
export const resolveFault = (state: MemoryState, address: bigint, access: Access): FaultOutcome => {
  const area = state.list.find(address) ?? growStack(state, address);
  if (area === undefined) return 'maperr';
  if (!permits(area.prot, access)) return 'accerr';
  if (!populate(state, area, address)) return 'bus';
  if (access === 'write' || area.file === null) prepareAnonVma(state, area);
  return 'resolved';
};

/**
 * anon_vma_prepare: a private page is about to exist. Neighbours that could be one area but for
 * their rights share an anon_vma, so that a later mprotect can merge them.
 */
export const prepareAnonVma = (state: MemoryState, area: Area): Area => {
  if (area.shared || area.anonVma !== 0) return area;
  const { list } = state;
  const above = list.find(area.end);
  const below = list.find(area.start - 1n);
  const shared =
    (above !== undefined && alike(area, above) ? above.anonVma : 0) ||
    (below !== undefined && alike(below, area) ? below.anonVma : 0);
  const prepared = { ...area, anonVma: shared || state.nextAnonVma++ };
  list.replace(area, prepared);
  return prepared;
};

/** anon_vma_compatible: rights apart, `high` continues `low`. */
const alike = (low: Area, high: Area): boolean =>
  mergeable({ ...low, prot: high.prot, anonVma: 0 }, high);

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
  const old = prepareAnonVma(state, stack);
  const grown = { ...old, start, pageOffset: old.pageOffset - (old.start - start) };
  list.replace(old, grown);
  state.changed();
  return grown;
};
