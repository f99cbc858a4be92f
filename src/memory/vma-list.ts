import { type Area, clip, merge, mergeable } from './area.ts';

/** The vmas of one address space in address order: mm->mm_mt. Areas never overlap. */
export class VmaList {
  #areas: Area[] = [];
  #last: Area | undefined;

  all(): readonly Area[] {
    return this.#areas;
  }

  replaceAll(areas: readonly Area[]): void {
    this.#areas = [...areas];
    this.#last = undefined;
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
    const area = this.#areas[this.#indexOf(address) - 1];
    return area;
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
    this.#areas.splice(from, (joinsBelow ? 1 : 0) + (joinsAbove ? 1 : 0), whole);
    this.#last = undefined;
    return whole;
  }

  /** Puts a changed area in the place of the old one. Preconditions: same end, start not past the neighbour below. */
  replace(old: Area, area: Area): void {
    this.#areas[this.#indexOf(old.start)] = area;
    this.#last = undefined;
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
    this.#areas.splice(from, hit.length, ...rest);
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
