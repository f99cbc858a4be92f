/** Which pages are mapped with which rights: ranges of page numbers, in order, that do not overlap. */

interface Region {
  readonly start: number;
  readonly end: number;
  readonly prot: number;
}

export class Regions {
  #list: Region[];

  constructor(list: Region[] = []) {
    this.#list = list;
  }

  clone(): Regions {
    return new Regions([...this.#list]);
  }

  /** Rights of a page; undefined where nothing is mapped. */
  protOf(page: number): number | undefined {
    const region = this.#list[this.#after(page) - 1];
    return region !== undefined && page < region.end ? region.prot : undefined;
  }

  /** Sets the rights of [start, end); undefined unmaps it. */
  set(start: number, end: number, prot: number | undefined): void {
    const list = this.#list;
    let first = this.#after(start) - 1;
    const before = list[first];
    if (before === undefined || before.end < start) first++;
    let last = first;
    let pieces: Region[] = [];
    for (; last < list.length && list[last]!.start <= end; last++) {
      const region = list[last]!;
      if (region.start < start) pieces.push({ ...region, end: Math.min(region.end, start) });
      if (region.end > end) pieces.push({ ...region, start: Math.max(region.start, end) });
    }
    if (prot !== undefined) pieces.push({ start, end, prot });
    pieces = joined(pieces.sort((a, b) => a.start - b.start));
    list.splice(first, last - first, ...pieces);
  }

  /** Index of the first region that begins after `page`. */
  #after(page: number): number {
    let low = 0;
    let high = this.#list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#list[middle]!.start <= page) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Neighbours with equal rights become one. */
const joined = (pieces: readonly Region[]): Region[] => {
  const result: Region[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last !== undefined && last.end === piece.start && last.prot === piece.prot)
      result[result.length - 1] = { ...last, end: piece.end };
    else result.push(piece);
  }
  return result;
};
