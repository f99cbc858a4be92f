import { type Area, clip, merge, mergeable } from './area.ts';

/** The vmas of one address space in address order: mm->mm_mt. Areas never overlap. */
export class VmaList {
  /** Never changed in place: who walks it is not disturbed by what happens meanwhile. */
  #areas: readonly Area[] = [];
  #last: Area | undefined;
  #size = 0n;
  /**
   * What the last top-down search found out: every gap above `end` and below `high` is smaller than
   * `size`. Kept while nothing is taken away; without it, a program of thousands of vmas pays for
   * all of them at each mmap.
   */
  searched: { readonly size: bigint; readonly end: bigint; readonly high: bigint } | null = null;

  /** Bytes of all areas. */
  get size(): bigint {
    return this.#size;
  }

  all(): readonly Area[] {
    return this.#areas;
  }

  replaceAll(areas: readonly Area[]): void {
    this.#areas = areas;
    this.#last = undefined;
    this.#size = total(areas);
    this.searched = null;
  }

  /** The area that contains `address`. */
  find(address: bigint): Area | undefined {
    const last = this.#last;
    if (last !== undefined && address >= last.start && address < last.end) return last;
    const area = this.findOrNext(address);
    if (area === undefined || area.start > address) return undefined;
    this.#last = area;
    return area;
  }

  /** find_vma: the first area that ends above `address`. */
  findOrNext(address: bigint): Area | undefined {
    return this.#areas[this.#indexOf(address)];
  }

  /** The last area that ends at or below `address`. */
  before(address: bigint): Area | undefined {
    return this.#areas[this.#indexOf(address) - 1];
  }

  /** Areas that touch [start, end), whole. */
  overlapping(start: bigint, end: bigint): Area[] {
    const found: Area[] = [];
    for (let i = this.#indexOf(start); i < this.#areas.length; i++) {
      const area = this.#areas[i] as Area;
      if (area.start >= end) break;
      found.push(area);
    }
    return found;
  }

  /** Adds an area, merged with its neighbours where Linux would. Preconditions: the place is free. */
  insert(area: Area): Area {
    const at = this.#indexOf(area.start);
    const below = this.#areas[at - 1];
    const above = this.#areas[at];
    const joinsBelow = below !== undefined && mergeable(below, area);
    const lower = joinsBelow ? merge(below, area) : area;
    const joinsAbove = above !== undefined && mergeable(lower, above);
    const whole = joinsAbove ? merge(lower, above) : lower;
    const from = joinsBelow ? at - 1 : at;
    this.#change(from, (joinsBelow ? 1 : 0) + (joinsAbove ? 1 : 0), whole);
    return whole;
  }

  /** Puts a changed area in the place of the old one. Preconditions: same end, start not past the neighbour below. */
  replace(old: Area, area: Area): void {
    this.#change(this.#indexOf(old.start), 1, area);
    this.searched = null;
  }

  /** __split_vma at an address inside an area; nothing to do at its ends. Returns the two halves. */
  split(address: bigint): readonly [Area, Area] | null {
    const area = this.find(address);
    if (area === undefined || area.start === address) return null;
    const low = clip(area, area.start, address);
    const high = clip(area, address, area.end);
    this.#change(this.#indexOf(address), 1, low, high);
    return [low, high];
  }

  /** Takes [start, end) out, splitting the areas at its ends. */
  cut(start: bigint, end: bigint): void {
    const from = this.#indexOf(start);
    const hit = this.overlapping(start, end);
    const rest: Area[] = [];
    for (const area of hit) {
      if (area.start < start) rest.push(clip(area, area.start, start));
      if (area.end > end) rest.push(clip(area, end, area.end));
    }
    this.#change(from, hit.length, ...rest);
    this.searched = null;
  }

  #change(from: number, count: number, ...areas: Area[]): void {
    this.#size += total(areas) - total(this.#areas.slice(from, from + count));
    this.#areas = this.#areas.toSpliced(from, count, ...areas);
    this.#last = undefined;
  }

  /** Index of the first area that ends above `address`. */
  #indexOf(address: bigint): number {
    let low = 0;
    let high = this.#areas.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#areas[middle] as Area).end > address) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

const total = (areas: readonly Area[]): bigint =>
  areas.reduce((sum, { start, end }) => sum + (end - start), 0n);
