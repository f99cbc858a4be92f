import { greatest, least, PAGE_SIZE, pageUp } from '../base/bytes.ts';
import { IntervalSet } from '../base/interval-set.ts';
import type { Engine } from '../cpu/engine.ts';
import { type Area, pageRights } from './area.ts';

/** Pages taken in at a first fault, and at most in one go when faults follow one another. */
const FIRST_RUN = 16n * PAGE_SIZE;
const LONGEST_RUN = 1024n * PAGE_SIZE;

/** Pages populated and copied, for `--stats`. */
export interface PageCounters {
  pagesPopulated: number;
  pagesCopied: number;
}

/**
 * Which pages of the vmas the engine holds. Runs double as faults follow one another, because an
 * engine is slow both with thousands of regions and with huge ones (docs/engines.md, rule 15).
 */
export class Population {
  readonly #engine: Engine;
  readonly #counters: PageCounters;
  #present = new IntervalSet();

  constructor(engine: Engine, counters: PageCounters) {
    this.#engine = engine;
    this.#counters = counters;
  }

  get present(): IntervalSet {
    return this.#present;
  }

  /** Takes over a captured state; the engine has restored the pages themselves. */
  reset(present: IntervalSet): void {
    this.#present = present;
  }

  /** Brings in the page at `page` and its surroundings. Preconditions: not present, not past the file's end. */
  around(area: Area, page: bigint): void {
    const end = backedEnd(area);
    const gap = this.#present.gapsWithin(area.start, end).find((run) => run.end > page);
    if (gap === undefined) return;
    const size = this.#runSize(gap.start, gap.end, area);
    const block = page - (page % size);
    this.fill(area, greatest(block, gap.start), least(block + size, gap.end));
  }

  /** Brings in all of [start, end). Preconditions: inside the area and the file, nothing present. */
  fill(area: Area, start: bigint, end: bigint): void {
    this.#engine.map(start, end - start, pageRights(area.prot));
    this.#present.add(start, end);
    this.#counters.pagesPopulated += Number((end - start) / PAGE_SIZE);
    if (area.file === null) return;
    const bytes = new Uint8Array(Number(end - start));
    const count = area.file.read(area.offset + (start - area.start), bytes);
    this.#engine.poke(start, bytes.subarray(0, count));
  }

  drop(start: bigint, end: bigint): void {
    for (const run of this.#present.within(start, end))
      this.#engine.unmap(run.start, run.end - run.start);
    this.#present.remove(start, end);
  }

  /** Carries the present pages of [area.start, +size) over to `to`. Preconditions: nothing present there. */
  move(area: Area, size: bigint, to: bigint): void {
    for (const run of this.#present.within(area.start, area.start + size)) {
      const bytes = new Uint8Array(Number(run.end - run.start));
      this.#engine.peek(run.start, bytes);
      const start = run.start - area.start + to;
      this.#engine.map(start, run.end - run.start, pageRights(area.prot));
      this.#engine.poke(start, bytes);
      this.#present.add(start, start + (run.end - run.start));
    }
  }

  protect(start: bigint, end: bigint, prot: number): void {
    for (const run of this.#present.within(start, end))
      this.#engine.protect(run.start, run.end - run.start, pageRights(prot));
  }

  /** The next run is as long as the neighbours that are there already. */
  #runSize(gapStart: bigint, gapEnd: bigint, area: Area): bigint {
    const below = this.#present.within(area.start, gapStart).at(-1);
    const above = this.#present.within(gapEnd, area.end).at(0);
    let known = 0n;
    if (below?.end === gapStart) known += below.end - below.start;
    if (above?.start === gapEnd) known += above.end - above.start;
    let size = FIRST_RUN;
    while (size < known && size < LONGEST_RUN) size *= 2n;
    return size;
  }
}

/** End of the pages that exist: a mapping may reach past the end of its file. */
export const backedEnd = (area: Area): bigint => {
  if (area.file === null) return area.end;
  return least(area.start + pageUp(area.file.size) - area.offset, area.end);
};
