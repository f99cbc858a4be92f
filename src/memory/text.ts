import { PAGE_SIZE, pageDown } from '../base/bytes.ts';
import type { Area } from './area.ts';
import { populate, prepareAnonVma } from './fault.ts';
import type { MemoryState } from './state.ts';
import type { MemoryErrno } from './types.ts';

/**
 * Accesses of the kernel that ignore rights: breakpoints (uprobe_write) and ptrace-like reads.
 * Nothing here grows the stack.
 */

/** access_remote_vm with FOLL_FORCE. Returns the bytes read before the first unmapped one. */
export const readForced = (state: MemoryState, address: bigint, into: Uint8Array): number => {
  let done = 0;
  while (done < into.length) {
    const at = address + BigInt(done);
    const area = state.list.find(at);
    // The kernel's own mappings are VM_IO: they cannot be read this way.
    if (area === undefined || area.special !== null || !populate(state, area, at)) return done;
    const room = Number(pageDown(at) + PAGE_SIZE - at);
    const piece = into.subarray(done, Math.min(into.length, done + room));
    state.engine.peek(at, piece);
    done += piece.length;
  }
  return done;
};

/** Preconditions: `bytes` lie inside one page of a private mapping. */
export const writeText = (
  state: MemoryState,
  address: bigint,
  bytes: Uint8Array,
): MemoryErrno | null => {
  const area = state.list.find(address);
  if (area === undefined || !populate(state, area, address)) return 'EFAULT';
  prepareAnonVma(state, area);
  const page = pageDown(address);
  if (area.file !== null && !state.copies.has(page)) {
    state.copies.add(page, page + PAGE_SIZE);
    state.counters.pagesCopied++;
  }
  state.engine.poke(address, bytes);
  return null;
};

export const isAnonymous = (state: MemoryState, address: bigint): boolean => {
  const area = state.list.find(address);
  const page = pageDown(address);
  if (area === undefined || !state.pages.present.has(page)) return false;
  if (area.file === null || state.copies.has(page)) return true;
  // User code may have written it; only then does it differ from the file.
  return area.accounted && differsFromFile(state, area, page);
};

export const dropIfPristine = (state: MemoryState, address: bigint): boolean => {
  const area = state.list.find(address);
  const page = pageDown(address);
  if (area === undefined || area.file === null || !state.copies.has(page)) return false;
  if (differsFromFile(state, area, page)) return false;
  state.copies.remove(page, page + PAGE_SIZE);
  return true;
};

const differsFromFile = (state: MemoryState, area: Area, page: bigint): boolean => {
  const now = new Uint8Array(Number(PAGE_SIZE));
  const original = new Uint8Array(Number(PAGE_SIZE));
  state.engine.peek(page, now);
  area.file?.read(area.offset + (page - area.start), original);
  return now.some((byte, at) => byte !== original[at]);
};
