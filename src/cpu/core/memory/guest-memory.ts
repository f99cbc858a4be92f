import { TraplineError } from '../../../base/errors.ts';
import { Prot } from '../../engine.ts';
import { Regions } from '../../regions.ts';
import { FRAME, How, STATE, TLB } from '../layout.ts';
import { type Fault, isKernel, USER_END } from './fault.ts';
import { Frames } from './frames.ts';
import { Tlb } from './tlb.ts';

/** A page that has been written (or copied in). Unwritten pages have none and read as zeros. */
interface Page {
  readonly at: number;
  /** A snapshot has it too: copied before it is written. */
  shared: boolean;
}

/** Opaque copy of memory. */
export interface MemorySnapshot {
  readonly regions: Regions;
  readonly pages: ReadonlyMap<number, Page>;
}

/** Told of writes to pages that hold decoded code. */
export interface CodeWatcher {
  hasCode(page: number): boolean;
  /** Bytes [start, end) have changed or will no longer be fetched. */
  changed(start: number, end: number): void;
}

const pageOf = (address: number): number => Math.floor(address / FRAME);

/** A sparse 64-bit address space: rights by ranges, pages by need, copies by first write. */
export class GuestMemory {
  readonly frames = new Frames();
  readonly #tlb = new Tlb(this.frames);
  #regions = new Regions();
  #pages = new Map<number, Page>();
  /** Snapshot that memory was last equal to, and what has changed since. */
  #base: MemorySnapshot | undefined;
  readonly #dirty = new Set<number>();
  #regionsChanged = false;
  readonly #watcher: CodeWatcher;
  /** Frames of pages that only forgotten snapshots had. */
  readonly #forgotten = new FinalizationRegistry<number>((at) => this.frames.free(at));
  readonly fault: Fault = { kind: 'page-fault', address: 0n, access: 'read', mapped: false };
  /** The access that stands in the bounce buffer. */
  #pendingAddress = 0;
  #pendingSize = 0;

  constructor(watcher: CodeWatcher) {
    this.#watcher = watcher;
  }

  map(address: bigint, size: bigint, prot: number): void {
    const start = pageOf(Number(address));
    this.#regions.set(start, start + pageOf(Number(size)), prot);
    this.#regionsChanged = true;
  }

  unmap(address: bigint, size: bigint): void {
    this.#changeRights(address, size, undefined);
    const start = pageOf(Number(address));
    this.#eachPage(start, start + pageOf(Number(size)), (page) => {
      this.#release(this.#pages.get(page)!);
      this.#pages.delete(page);
      this.#dirty.add(page);
    });
  }

  protect(address: bigint, size: bigint, prot: number): void {
    this.#changeRights(address, size, prot);
  }

  #changeRights(address: bigint, size: bigint, prot: number | undefined): void {
    const start = pageOf(Number(address));
    const count = pageOf(Number(size));
    this.#regions.set(start, start + count, prot);
    this.#regionsChanged = true;
    if (count > TLB.entries) this.#tlb.flush();
    else for (let page = start; page < start + count; page++) this.#tlb.drop(page);
    this.#watcher.changed(start * FRAME, (start + count) * FRAME);
  }

  /** Pages of a range that exist, whichever way is shorter. */
  #eachPage(start: number, end: number, visit: (page: number) => void): void {
    if (end - start <= this.#pages.size) {
      for (let page = start; page < end; page++) if (this.#pages.has(page)) visit(page);
      return;
    }
    for (const page of this.#pages.keys()) if (page >= start && page < end) visit(page);
  }

  #release(page: Page): void {
    if (!page.shared) this.frames.free(page.at);
  }

  protOf(page: number): number | undefined {
    return this.#regions.protOf(page);
  }

  /** Where a page's bytes are, for reading. */
  #readFrame(page: number): number {
    return this.#pages.get(page)?.at ?? this.frames.zero;
  }

  /** Where a page's bytes are, for writing: its own frame from now on. */
  #writeFrame(page: number): number {
    const known = this.#pages.get(page);
    if (known !== undefined && !known.shared) return known.at;
    const at = known === undefined ? this.frames.allocate() : this.frames.copy(known.at);
    this.#pages.set(page, { at, shared: false });
    this.#dirty.add(page);
    this.#tlb.drop(page);
    return at;
  }

  /**
   * An access that the TLB did not know. Answers where it can be done in linear memory: in its page, or in the
   * bounce buffer if it crosses pages or writes to code; 0 = `fault` says why not.
   */
  access(signed: bigint, how: number, stack: boolean): number {
    const size = how & How.size;
    const write = (how & How.write) !== 0;
    const address = BigInt.asUintN(64, signed);
    if (address + BigInt(size) > USER_END) return this.#beyond(address, write, stack);
    const start = Number(address);
    const first = pageOf(start);
    const last = pageOf(start + size - 1);
    for (let page = first; page <= last; page++) {
      const prot = this.#regions.protOf(page);
      if (prot === undefined || !allowed(prot, write))
        return this.#fail(Math.max(start, page * FRAME), write, prot !== undefined);
    }
    if (first === last && !(write && this.#watcher.hasCode(first)))
      return this.#inPage(start, first, write);
    this.peek(start, this.frames.bytes.subarray(STATE.bounce, STATE.bounce + size));
    this.#pendingAddress = start;
    this.#pendingSize = size;
    return STATE.bounce;
  }

  #inPage(start: number, page: number, write: boolean): number {
    const frame = write ? this.#writeFrame(page) : this.#readFrame(page);
    this.#tlb.fill(write ? TLB.write : TLB.read, page, frame);
    return frame + (start % FRAME);
  }

  /** The bounce buffer has been written. */
  commit(): void {
    const { bytes } = this.frames;
    this.poke(this.#pendingAddress, bytes.slice(STATE.bounce, STATE.bounce + this.#pendingSize));
  }

  #fail(address: number, write: boolean, mapped: boolean): number {
    this.fault.kind = 'page-fault';
    this.fault.address = BigInt(address);
    this.fault.access = write ? 'write' : 'read';
    this.fault.mapped = mapped;
    return 0;
  }

  /** No user address: non-canonical ones are #GP or #SS, the kernel's half is not mapped. */
  #beyond(address: bigint, write: boolean, stack: boolean): number {
    if (isKernel(address)) {
      this.#fail(0, write, false);
      this.fault.address = address;
    } else this.fault.kind = stack ? 'stack-fault' : 'general-protection';
    return 0;
  }

  /** Preconditions: every page is mapped. */
  peek(start: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const at = start + done;
      const offset = at % FRAME;
      const count = Math.min(FRAME - offset, into.length - done);
      const frame = this.#readFrame(pageOf(at)) + offset;
      into.set(this.frames.bytes.subarray(frame, frame + count), done);
      done += count;
    }
  }

  /** Preconditions: every page is mapped. */
  poke(start: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const at = start + done;
      const offset = at % FRAME;
      const count = Math.min(FRAME - offset, bytes.length - done);
      const frame = this.#writeFrame(pageOf(at)) + offset;
      const whole = count === bytes.length;
      this.frames.bytes.set(whole ? bytes : bytes.subarray(done, done + count), frame);
      done += count;
    }
    if (bytes.length > 0) this.#watcher.changed(start, start + bytes.length);
  }

  /** Throws where the contract is broken: a page of the range is not mapped. */
  require(address: bigint, size: number): number {
    const start = Number(address);
    for (let page = pageOf(start); page * FRAME < start + size; page++)
      if (this.#regions.protOf(page) === undefined)
        throw new TraplineError(
          'internal',
          `nothing is mapped at 0x${(page * FRAME).toString(16)}`,
        );
    return start;
  }

  /** From now on, writes to a page with code have to ask. */
  watch(page: number): void {
    this.#tlb.dropWrite(page);
  }

  capture(): MemorySnapshot {
    for (const page of this.#pages.values()) this.#share(page);
    const snapshot = { regions: this.#regions.clone(), pages: new Map(this.#pages) };
    this.#tlb.flushWrites();
    this.#rebase(snapshot);
    return snapshot;
  }

  #share(page: Page): void {
    if (page.shared) return;
    page.shared = true;
    this.#forgotten.register(page, page.at);
  }

  #rebase(snapshot: MemorySnapshot): void {
    this.#base = snapshot;
    this.#dirty.clear();
    this.#regionsChanged = false;
  }

  restore(snapshot: MemorySnapshot): void {
    const known = snapshot === this.#base;
    const pages = known ? this.#dirty : new Set([...this.#pages.keys(), ...snapshot.pages.keys()]);
    for (const page of pages) this.#putBack(page, snapshot.pages.get(page));
    if (this.#regionsChanged || !known) {
      this.#regions = snapshot.regions.clone();
      this.#tlb.flush();
      this.#watcher.changed(0, Number.POSITIVE_INFINITY);
    }
    this.#rebase(snapshot);
  }

  #putBack(page: number, before: Page | undefined): void {
    const now = this.#pages.get(page);
    if (now === before) return;
    if (now !== undefined) this.#release(now);
    if (before === undefined) this.#pages.delete(page);
    else this.#pages.set(page, before);
    this.#tlb.drop(page);
    this.#watcher.changed(page * FRAME, (page + 1) * FRAME);
  }
}

/** An x86 page that can be accessed at all can be read (SDM vol. 3, 4.6). */
const allowed = (prot: number, write: boolean): boolean =>
  write ? (prot & Prot.Write) !== 0 : prot !== Prot.None;
