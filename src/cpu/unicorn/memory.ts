/**
 * Guest memory: which pages exist, their rights, and the host bytes behind them.
 *
 * The bytes are ours and are lent to Unicorn, so reads and writes from the layers above cost no call,
 * and Unicorn never splits a region itself (it would copy it). Bytes come in windows of 64 KiB of
 * guest address space; neighbours with equal rights become one Unicorn region, because Unicorn slows
 * down with the number of regions.
 */
import { TraplineError } from '../../base/errors.ts';
import { Prot } from '../engine.ts';
import type { HostBlock, UnicornCpu } from './binding.ts';

const PAGE = 4096;
const WINDOW = 65536;
const PAGES = WINDOW / PAGE;
/** Rights of a page that is not mapped. */
const ABSENT = 0xff;
/** End of the lower canonical half: no page of a user program lies above. */
export const USER_END = 0x8000_0000_0000;

/** 64 KiB of guest addresses. */
interface Window {
  readonly block: HostBlock;
  readonly offset: number;
  readonly prots: Uint8Array;
}

/** A range that Unicorn knows as one region. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly prot: number;
  readonly block: HostBlock;
  readonly offset: number;
}

/** Every present x86 page is readable. */
const rights = (prot: number): number => (prot === Prot.None ? prot : prot | Prot.Read);

const joins = (left: Region, right: Region): boolean =>
  left.end === right.start &&
  left.prot === right.prot &&
  left.block === right.block &&
  left.offset + (left.end - left.start) === right.offset;

/** Pages and bytes of one CPU. */
export class GuestMemory {
  private readonly cpu: UnicornCpu;
  private readonly windows = new Map<number, Window>();
  /** Sorted, disjoint. */
  private regions: Region[] = [];

  constructor(cpu: UnicornCpu) {
    this.cpu = cpu;
  }

  map(start: number, size: number, prot: number): void {
    this.makeWindows(start, start + size);
    this.forEachPiece(start, size, (window, at, length) => {
      window.prots.fill(rights(prot), at / PAGE, (at + length) / PAGE);
      const from = window.offset + at;
      window.block.view().fill(0, from, from + length);
    });
    this.replace(start, start + size, rights(prot));
  }

  unmap(start: number, size: number): void {
    this.forEachPiece(start, size, (window, at, length) => {
      window.prots.fill(ABSENT, at / PAGE, (at + length) / PAGE);
    });
    this.replace(start, start + size, null);
    this.freeWindows(start, start + size);
  }

  protect(start: number, size: number, prot: number): void {
    this.forEachPiece(start, size, (window, at, length) => {
      window.prots.fill(rights(prot), at / PAGE, (at + length) / PAGE);
    });
    this.replace(start, start + size, rights(prot));
  }

  /** Rights of the page at `address`, or undefined where nothing is mapped. */
  protAt(address: number): number | undefined {
    const window = this.windows.get(Math.floor(address / WINDOW));
    const prot = window?.prots[Math.floor((address % WINDOW) / PAGE)];
    return prot === ABSENT ? undefined : prot;
  }

  read(address: number, into: Uint8Array): void {
    let done = 0;
    this.forEachPiece(address, into.length, (window, at, length) => {
      const from = window.offset + at;
      into.set(window.block.view().subarray(from, from + length), done);
      done += length;
    });
  }

  write(address: number, bytes: Uint8Array): void {
    let done = 0;
    this.forEachPiece(address, bytes.length, (window, at, length) => {
      window.block.view().set(bytes.subarray(done, done + length), window.offset + at);
      done += length;
    });
  }

  /** Mapped ranges with equal rights, in order. */
  ranges(): readonly { readonly start: number; readonly end: number; readonly prot: number }[] {
    return this.regions;
  }

  private forEachPiece(
    start: number,
    size: number,
    visit: (window: Window, at: number, length: number) => void,
  ): void {
    for (let address = start, left = size; left > 0; ) {
      const window = this.windows.get(Math.floor(address / WINDOW));
      const at = address % WINDOW;
      const length = Math.min(left, WINDOW - at);
      if (window === undefined)
        throw new TraplineError('internal', `no page at 0x${address.toString(16)}`);
      visit(window, at, length);
      address += length;
      left -= length;
    }
  }

  private makeWindows(start: number, end: number): void {
    const last = Math.floor((end - 1) / WINDOW);
    for (let index = Math.floor(start / WINDOW); index <= last; index++) {
      if (this.windows.has(index)) continue;
      let count = 1;
      while (index + count <= last && !this.windows.has(index + count)) count++;
      const block = this.cpu.allocate(count * WINDOW);
      for (let i = 0; i < count; i++) {
        const prots = new Uint8Array(PAGES).fill(ABSENT);
        this.windows.set(index + i, { block, offset: i * WINDOW, prots });
      }
    }
  }

  /** Gives back blocks none of whose pages is mapped any more. */
  private freeWindows(start: number, end: number): void {
    const last = Math.floor((end - 1) / WINDOW);
    for (let index = Math.floor(start / WINDOW); index <= last; index++) {
      const window = this.windows.get(index);
      if (window === undefined) continue;
      const first = index - window.offset / WINDOW;
      const count = window.block.size / WINDOW;
      const indices = Array.from({ length: count }, (_, i) => first + i);
      const empty = indices.every((i) => this.windows.get(i)?.prots.every((p) => p === ABSENT));
      if (!empty) continue;
      for (const i of indices) this.windows.delete(i);
      this.cpu.free(window.block);
    }
  }

  /** Makes Unicorn's regions follow: [start, end) gets `prot`, or goes when it is null. */
  private replace(start: number, end: number, prot: number | null): void {
    // Neighbours take part so that they can join.
    const first = this.regions.findIndex((region) => region.end >= start);
    const from = first < 0 ? this.regions.length : first;
    let to = from;
    while (to < this.regions.length && this.regions[to]!.start <= end) to++;
    const old = this.regions.slice(from, to);
    const pieces: Region[] = [];
    for (const region of old)
      if (region.start < start) pieces.push(cut(region, region.start, start));
    if (prot !== null) pieces.push(...this.piecesOf(start, end, prot));
    for (const region of old) if (region.end > end) pieces.push(cut(region, end, region.end));
    const joined = join(pieces);
    const kept = new Set(old.filter((region) => joined.some((piece) => same(piece, region))));
    for (const region of old)
      if (!kept.has(region)) this.cpu.unmap(region.start, region.end - region.start);
    for (const piece of joined)
      if (![...kept].some((region) => same(piece, region)))
        this.cpu.map(piece.start, piece.end - piece.start, piece.prot, piece.block, piece.offset);
    this.regions.splice(from, to - from, ...joined);
  }

  private piecesOf(start: number, end: number, prot: number): Region[] {
    const pieces: Region[] = [];
    let address = start;
    this.forEachPiece(start, end - start, (window, at, length) => {
      const { block } = window;
      pieces.push({
        start: address,
        end: address + length,
        prot,
        block,
        offset: window.offset + at,
      });
      address += length;
    });
    return pieces;
  }
}

const cut = (region: Region, from: number, to: number): Region => {
  const start = Math.max(region.start, from);
  return {
    ...region,
    start,
    end: Math.min(region.end, to),
    offset: region.offset + start - region.start,
  };
};

const same = (a: Region, b: Region): boolean =>
  a.start === b.start && a.end === b.end && a.prot === b.prot && a.offset === b.offset;

const join = (pieces: readonly Region[]): Region[] => {
  const joined: Region[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last !== undefined && joins(last, piece))
      joined[joined.length - 1] = { ...last, end: piece.end };
    else joined.push(piece);
  }
  return joined;
};
