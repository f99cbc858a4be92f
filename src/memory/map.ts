import { greatest, least, pageUp } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import { type Area, isAccounted } from './area.ts';
import { MAX_MAP_COUNT, TASK_SIZE } from './limits.ts';
import { placeFor } from './placement.ts';
import type { MemoryState } from './state.ts';
import type { MapRequest, MemoryErrno } from './types.ts';
import { unmapRange } from './unmap.ts';

/** mmap(2) behind the argument checks. */
export const mapArea = (state: MemoryState, request: MapRequest): bigint | MemoryErrno => {
  if (request.size <= 0n) return 'EINVAL';
  const size = pageUp(request.size);
  if (size > TASK_SIZE || state.list.all().length >= MAX_MAP_COUNT) return 'ENOMEM';
  const mayExec = request.mayExec ?? true;
  if (!mayExec && (request.prot & Prot.Exec) !== 0) return 'EPERM';
  const start = placeFor(state, request, size);
  if (typeof start === 'string') return start;
  const replaced = state.list.overlapping(start, start + size);
  const freed = replaced.reduce((sum, area) => sum + overlap(area, start, start + size), 0n);
  if (state.size() - freed + size > state.options.sizeLimit) return 'ENOMEM';
  const refusal = replaced.length > 0 ? unmapRange(state, start, size) : null;
  if (refusal !== null) return refusal;
  addArea(state, areaOf(state, request, start, size));
  return start;
};

/** Puts an area into the list and tells the listener. Preconditions: the place is free. */
export const addArea = (state: MemoryState, area: Area): void => {
  const whole = state.list.insert(area);
  // The owner of a special mapping pokes its contents in.
  if (area.special !== null) state.pages.fill(area, area.start, area.end);
  state.changed();
  state.listener?.mapped(whole);
};

const areaOf = (state: MemoryState, request: MapRequest, start: bigint, size: bigint): Area => {
  const shared = request.shared ?? false;
  return {
    start,
    end: start + size,
    prot: request.prot,
    shared,
    growsDown: request.growsDown ?? false,
    file: request.file ?? null,
    offset: request.file === undefined ? 0n : (request.offset ?? 0n),
    mayExec: request.mayExec ?? true,
    special: request.special ?? null,
    label: request.label ?? request.special?.name ?? null,
    accounted: isAccounted(shared, request.prot),
    mayProt: mayProtOf(request),
    // Each shared anonymous mapping is a file of its own, so that two of them never merge.
    anonVma: shared && request.file === undefined ? state.nextAnonVma++ : 0,
    pageOffset: request.file === undefined ? start : (request.offset ?? 0n),
  };
};

/** A private special mapping never gets more than it was made with; a shared one is an open file's. */
const mayProtOf = ({ special, shared, prot, mayExec = true }: MapRequest): number =>
  special !== undefined && shared !== true
    ? prot
    : Prot.Read | Prot.Write | (mayExec ? Prot.Exec : 0);

const overlap = (area: Area, start: bigint, end: bigint): bigint =>
  least(area.end, end) - greatest(area.start, start);
