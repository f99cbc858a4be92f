import { pageUp } from '../base/bytes.ts';
import { IntervalSet } from '../base/interval-set.ts';
import type { Access, Engine } from '../cpu/engine.ts';
import type { Area } from './area.ts';
import { resolveFault } from './fault.ts';
import { highestFree, lowestFree } from './free-ranges.ts';
import { mapArea } from './map.ts';
import { type PlaceRequest, unmappedArea } from './placement.ts';
import { protectRange } from './protect.ts';
import { remapArea } from './remap.ts';
import { MemoryState } from './state.ts';
import { dropIfPristine, isAnonymous, readForced, writeText } from './text.ts';
import type {
  AddressSpaceListener,
  AddressSpaceOptions,
  FaultOutcome,
  MapRequest,
  MemoryCounters,
  MemoryErrno,
  RemapFlags,
} from './types.ts';
import { discardPages, unmapRange } from './unmap.ts';
import { UserAccess } from './user-access.ts';
import type { Vma } from './vma.ts';

export { TASK_SIZE } from './limits.ts';
export type * from './types.ts';

/** What {@link AddressSpace.capture} hands out. */
interface Captured {
  readonly areas: readonly Area[];
  readonly present: IntervalSet;
  readonly copies: IntervalSet;
  readonly counters: MemoryCounters;
}

/**
 * One process's memory: the vmas, and which of their pages the engine already holds. Pages are
 * populated on first touch, in runs, because an engine is slow with thousands of regions.
 */
export class AddressSpace {
  readonly engine: Engine;
  readonly counters: MemoryCounters;
  readonly #state: MemoryState;
  readonly #user: UserAccess;

  constructor(engine: Engine, options: AddressSpaceOptions = {}) {
    this.engine = engine;
    this.#state = new MemoryState(engine, options);
    this.#user = new UserAccess(this.#state);
    this.counters = this.#state.counters;
  }

  get listener(): AddressSpaceListener | null {
    return this.#state.listener;
  }

  set listener(listener: AddressSpaceListener | null) {
    this.#state.listener = listener;
  }

  /** Changes whenever a vma appears, goes or changes; lets callers cache look-ups. */
  get generation(): number {
    return this.#state.generation;
  }

  /** In address order. */
  vmas(): readonly Vma[] {
    return this.#state.list.all();
  }

  /** The vma that contains `address`. */
  find(address: bigint): Vma | undefined {
    return this.#state.list.find(address);
  }

  /** The vma that contains `address`, or the next one above it (find_vma). */
  findOrNext(address: bigint): Vma | undefined {
    return this.#state.list.findOrNext(address);
  }

  /** mmap without the syscall's argument checks. Returns the address or an errno name. */
  map(request: MapRequest): bigint | MemoryErrno {
    return mapArea(this.#state, request);
  }

  /** Where `map` would put this, given no address or a hint. */
  findPlace(request: PlaceRequest): bigint | undefined {
    return unmappedArea(this.#state, { ...request, size: pageUp(request.size) });
  }

  unmap(start: bigint, size: bigint): MemoryErrno | null {
    return unmapRange(this.#state, start, size);
  }

  protect(start: bigint, size: bigint, prot: number): MemoryErrno | null {
    return protectRange(this.#state, start, size, prot);
  }

  /** mremap(2); special mappings neither grow nor move. */
  remap(start: bigint, oldSize: bigint, newSize: bigint, flags: RemapFlags): bigint | MemoryErrno {
    return remapArea(this.#state, start, oldSize, newSize, flags);
  }

  /**
   * MADV_DONTNEED: private pages read as new again, zeroes or the file's bytes; breakpoints in them
   * are gone, as on Linux. Holes and special mappings are left alone. Nobody is told.
   */
  discard(start: bigint, size: bigint): void {
    discardPages(this.#state, start, size);
  }

  /** Lowest free run of `size` bytes inside [low, high), guard gaps respected. */
  findFreeAbove(size: bigint, low: bigint, high: bigint): bigint | undefined {
    return lowestFree(this.#state.list, size, low, high);
  }

  /** Highest free run of `size` bytes inside [low, high), guard gaps respected. */
  findFreeBelow(size: bigint, low: bigint, high: bigint): bigint | undefined {
    return highestFree(this.#state.list, size, low, high);
  }

  /** Handles a page fault: populates pages, grows the stack, or says which signal code it deserves. */
  resolve(address: bigint, access: Access): FaultOutcome {
    this.counters.faults++;
    return resolveFault(this.#state, address, access);
  }

  /**
   * copy_from_user: reads as the guest would, populating pages. Returns the number of bytes read
   * before the first unreadable one (`into.length` when all went well).
   */
  read(address: bigint, into: Uint8Array): number {
    return this.#user.read(address, into);
  }

  /** copy_to_user: write rights respected. Returns bytes written before the first failure. */
  write(address: bigint, bytes: Uint8Array): number {
    return this.#user.write(address, bytes);
  }

  /** 8 bytes little-endian, or undefined when unreadable. */
  readU64(address: bigint): bigint | undefined {
    return this.#user.readU64(address);
  }

  writeU64(address: bigint, value: bigint): boolean {
    return this.#user.writeU64(address, value);
  }

  /** Bytes before the NUL; undefined when unreadable before a NUL or longer than `max`. */
  readString(address: bigint, max: number): Uint8Array | undefined {
    return this.#user.readString(address, max);
  }

  /** access_remote_vm with FOLL_FORCE for reading: rights ignored, vmas respected. */
  readForced(address: bigint, into: Uint8Array): number {
    return readForced(this.#state, address, into);
  }

  /**
   * The one writer of program text: rights ignored, the page becomes a private (anonymous) copy.
   * Preconditions: inside one page of one private vma. EFAULT when nothing is mapped there.
   */
  writeText(address: bigint, bytes: Uint8Array): MemoryErrno | null {
    return writeText(this.#state, address, bytes);
  }

  /** The page at `address` is a private copy, no longer the file's page. */
  isAnonymous(address: bigint): boolean {
    return isAnonymous(this.#state, address);
  }

  /** Drops a private copy that equals the file's page again; returns whether it did. */
  dropIfPristine(address: bigint): boolean {
    return dropIfPristine(this.#state, address);
  }

  /** All state but the page contents, which the engine captures itself. */
  capture(): unknown {
    const { list, pages, copies, counters } = this.#state;
    const captured: Captured = {
      areas: list.all(),
      present: new IntervalSet(pages.present.runs()),
      copies: new IntervalSet(copies.runs()),
      counters: { ...counters },
    };
    return captured;
  }

  /** Preconditions: `state` is from `capture` of this object, and the engine is restored to the same moment. */
  restore(state: unknown): void {
    const { areas, present, copies, counters } = state as Captured;
    this.#state.list.replaceAll(areas);
    this.#state.pages.reset(new IntervalSet(present.runs()));
    this.#state.copies = new IntervalSet(copies.runs());
    Object.assign(this.counters, counters);
    // Never back to an old number: callers compare it to know whether their look-ups still hold.
    this.#state.changed();
  }
}
