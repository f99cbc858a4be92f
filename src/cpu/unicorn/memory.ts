/**
 * Guest memory: which pages exist, their rights, and the host bytes behind them.
 *
 * The bytes are ours and lent to Unicorn in windows, so that reads and writes from the layers above cost
 * no call. Unicorn's regions are slow to change; once a window is there, pages come and go by page table
 * entries alone.
 */
import { TraplineError } from '../../base/errors.ts';
import { Prot } from '../engine.ts';
import type { HostBlock, UnicornCpu } from './binding.ts';
import { type PageTables, Pte, TABLES_START } from './page-tables.ts';

export const PAGE = 4096;
/** End of the lower canonical half: no page of a user program lies above. */
export const USER_END = 0x8000_0000_0000;
/** Rights of a page that is not mapped. */
const ABSENT = 0xff;
/** Rights are the page tables' affair. */
const EVERYTHING = Prot.Read | Prot.Write | Prot.Exec;
/** So many empty windows are kept for the next mapping. */
const SPARE = 16;
/** Bytes of a short access. */
const SHORT = 64;

/** A page as a snapshot keeps it. */
export interface PageImage {
  readonly prot: number;
  readonly bytes: Uint8Array;
}

/** Host memory behind one or more neighbouring windows; one region of Unicorn's. */
interface Extent {
  readonly start: number;
  readonly block: HostBlock;
  /** One a page: bits of {@link Prot}, or {@link ABSENT}. */
  readonly prots: Uint8Array;
  mapped: number;
  /** Pages from this index on were never used since the host gave zeroed memory. */
  fresh: number;
}

/** Every present x86 page can be read. */
const effective = (prot: number): number => (prot === Prot.None ? prot : prot | Prot.Read);

const entryFlags = (prot: number): number =>
  prot === Prot.None
    ? 0
    : Pte.present | Pte.user | Pte.accessed | ((prot & Prot.Write) === 0 ? 0 : Pte.write);

/** Returns whether anything changed. */
const assign = (target: Uint8Array, at: number, bytes: Uint8Array): boolean => {
  let changed = false;
  for (let i = 0; i < bytes.length; i++) {
    if (target[at + i] === bytes[i]) continue;
    target[at + i] = bytes[i]!;
    changed = true;
  }
  return changed;
};

export class GuestMemory {
  private readonly cpu: UnicornCpu;
  private readonly tables: PageTables;
  private readonly windowSize: number;
  private readonly regionProt: number;
  private readonly windows = new Map<number, Extent>();
  private readonly spare = new Set<Extent>();
  /** Where the last access was: most are near the one before. */
  private recent: Extent | undefined;
  /** The CPU may still hold translations of addresses that were taken away. */
  stale = false;

  constructor(cpu: UnicornCpu, tables: PageTables) {
    this.cpu = cpu;
    this.tables = tables;
    this.windowSize = cpu.windowSize;
    this.regionProt = cpu.announcesFetches ? Prot.Read | Prot.Write : EVERYTHING;
  }

  map(start: number, size: number, prot: number): void {
    this.makeWindows(start, start + size);
    this.forEachPiece(start, size, (extent, at, length) => {
      const first = at / PAGE;
      const last = first + length / PAGE;
      if (first < extent.fresh) extent.block.view().fill(0, at, at + length);
      extent.fresh = Math.max(extent.fresh, last);
      extent.prots.fill(effective(prot), first, last);
      extent.mapped += length / PAGE;
      this.spare.delete(extent);
    });
    this.setEntries(start, size, entryFlags(prot) | (prot === 0 ? 0 : Pte.dirty));
  }

  unmap(start: number, size: number): void {
    this.setEntries(start, size, 0);
    this.forEachPiece(start, size, (extent, at, length) => {
      extent.prots.fill(ABSENT, at / PAGE, (at + length) / PAGE);
      extent.mapped -= length / PAGE;
      if (extent.mapped === 0) this.spare.add(extent);
    });
    this.stale = true;
    this.dropSpare();
  }

  protect(start: number, size: number, prot: number): void {
    const flags = entryFlags(prot);
    for (let page = start; page < start + size; page += PAGE) {
      const old = this.tables.get(page);
      this.tables.set(page, flags | (old & Pte.dirty) | (old === 0 && flags !== 0 ? Pte.dirty : 0));
      if ((old & ~flags & (Pte.present | Pte.write)) !== 0) this.stale = true;
    }
    this.forEachPiece(start, size, (extent, at, length) => {
      extent.prots.fill(effective(prot), at / PAGE, (at + length) / PAGE);
    });
  }

  /** Rights of the page at `address`, or undefined where nothing is mapped. */
  protAt(address: number): number | undefined {
    const extent = this.extentAt(address);
    const prot = extent?.prots[Math.floor((address - extent.start) / PAGE)];
    return prot === ABSENT ? undefined : prot;
  }

  /** The byte at `address`, or undefined where nothing is mapped. */
  byteAt(address: number): number | undefined {
    const extent = this.extentAt(address);
    return extent?.block.view()[address - extent.start];
  }

  read(address: number, into: Uint8Array): void {
    const { length } = into;
    const whole = this.shortPiece(address, length);
    if (whole !== undefined) {
      const bytes = whole.block.view();
      const from = address - whole.start;
      for (let i = 0; i < length; i++) into[i] = bytes[from + i]!;
      return;
    }
    let done = 0;
    this.forEachPiece(address, into.length, (extent, at, length) => {
      into.set(extent.block.view().subarray(at, at + length), done);
      done += length;
    });
  }

  /** Returns whether anything changed. */
  write(address: number, bytes: Uint8Array): boolean {
    const whole = this.shortPiece(address, bytes.length);
    if (whole !== undefined) return assign(whole.block.view(), address - whole.start, bytes);
    let done = 0;
    let changed = false;
    this.forEachPiece(address, bytes.length, (extent, at, length) => {
      const target = extent.block.view();
      for (let i = 0; i < length && !changed; i++) changed = target[at + i] !== bytes[done + i];
      if (changed) target.set(bytes.subarray(done, done + length), at);
      done += length;
    });
    return changed;
  }

  /** Marks the pages of a range as changed since the last snapshot. */
  markDirty(address: number, size: number): void {
    for (let page = address - (address % PAGE); page < address + size; page += PAGE)
      this.tables.set(page, this.tables.get(page) | Pte.dirty);
  }

  /**
   * Gives `address` a region, though no page: Unicorn asks for one before it looks at the page tables.
   * False where none can be.
   */
  backEmpty(address: number): boolean {
    if (this.windows.has(Math.floor(address / this.windowSize))) return false;
    this.makeWindows(address, address + 1);
    this.spare.add(this.windows.get(Math.floor(address / this.windowSize))!);
    this.dropSpare();
    return true;
  }

  /** Changed since it was last marked clean. */
  isDirty(address: number): boolean {
    const flags = this.tables.get(address);
    // A page that nobody can access has no entry to tell; take it for changed.
    return flags === 0 || (flags & Pte.dirty) !== 0;
  }

  markClean(address: number): void {
    const flags = this.tables.get(address);
    if ((flags & Pte.dirty) === 0) return;
    this.tables.set(address, flags & ~Pte.dirty);
    this.stale = true;
  }

  /** Every page, in no order. */
  *pages(): Iterable<{ readonly address: number; readonly prot: number }> {
    for (const extent of new Set(this.windows.values()))
      for (const [index, prot] of extent.prots.entries())
        if (prot !== ABSENT) yield { address: extent.start + index * PAGE, prot };
  }

  private setEntries(start: number, size: number, flags: number): void {
    for (let page = start; page < start + size; page += PAGE) this.tables.set(page, flags);
  }

  private extentAt(address: number): Extent | undefined {
    const { recent } = this;
    const inRecent =
      recent !== undefined && address >= recent.start && address < recent.start + recent.block.size;
    if (inRecent) return recent;
    this.recent = this.windows.get(Math.floor(address / this.windowSize));
    return this.recent;
  }

  /** What holds all of a few bytes: a loop over them is cheaper than a view of them. */
  private shortPiece(address: number, length: number): Extent | undefined {
    if (length > SHORT) return undefined;
    const extent = this.extentAt(address);
    const fits = extent !== undefined && address + length <= extent.start + extent.block.size;
    return fits ? extent : undefined;
  }

  private forEachPiece(
    start: number,
    size: number,
    visit: (extent: Extent, at: number, length: number) => void,
  ): void {
    for (let address = start, left = size; left > 0; ) {
      const extent = this.extentAt(address);
      if (extent === undefined)
        throw new TraplineError('internal', `nothing mapped at 0x${address.toString(16)}`);
      const at = address - extent.start;
      const length = Math.min(left, extent.block.size - at);
      visit(extent, at, length);
      address += length;
      left -= length;
    }
  }

  private makeWindows(start: number, end: number): void {
    const size = this.windowSize;
    const last = Math.floor((end - 1) / size);
    for (let index = Math.floor(start / size); index <= last; index++) {
      if (this.windows.has(index)) continue;
      let count = 1;
      while (index + count <= last && !this.windows.has(index + count)) count++;
      this.makeExtent(index, count);
    }
  }

  private makeExtent(index: number, count: number): void {
    const start = index * this.windowSize;
    const size = count * this.windowSize;
    if (start < TABLES_START + 0x100_0000 && start + size > TABLES_START)
      throw new TraplineError(
        'engine-limit',
        'this engine keeps 0xffff000000-0x10000000000 for itself',
      );
    const block = this.cpu.allocate(size);
    const pages = size / PAGE;
    const prots = new Uint8Array(pages).fill(ABSENT);
    const extent = { start, block, prots, mapped: 0, fresh: this.cpu.zeroed ? 0 : pages };
    this.cpu.map(start, this.regionProt, block);
    for (let i = 0; i < count; i++) this.windows.set(index + i, extent);
  }

  /** Gives windows without pages back, but for the newest. */
  private dropSpare(): void {
    for (const extent of this.spare) {
      if (this.spare.size <= SPARE) break;
      this.spare.delete(extent);
      this.recent = undefined;
      this.cpu.unmap(extent.start, extent.block.size);
      for (let at = 0; at < extent.block.size; at += this.windowSize)
        this.windows.delete((extent.start + at) / this.windowSize);
      this.cpu.free(extent.block);
    }
  }
}
