/** A half-open range [start, end). */
export interface Interval {
  readonly start: bigint;
  readonly end: bigint;
}

/** A set of numbers kept as sorted, disjoint, non-touching ranges. */
export class IntervalSet {
  #runs: Interval[];

  constructor(runs: readonly Interval[] = []) {
    this.#runs = [...runs];
  }

  /** The ranges, in order; a copy that later changes leave alone. */
  runs(): readonly Interval[] {
    return [...this.#runs];
  }

  /** The whole range that contains `point`. */
  runAt(point: bigint): Interval | undefined {
    const run = this.#runs[this.#firstEndingAfter(point)];
    return run !== undefined && run.start <= point ? run : undefined;
  }

  has(point: bigint): boolean {
    return this.runAt(point) !== undefined;
  }

  add(start: bigint, end: bigint): void {
    if (start >= end) return;
    // Ranges that overlap or touch [start, end) become one with it.
    const from = this.#firstEndingAfter(start - 1n);
    let to = from;
    let low = start;
    let high = end;
    for (let run = this.#runs[to]; run !== undefined && run.start <= end; run = this.#runs[++to]) {
      if (run.start < low) low = run.start;
      if (run.end > high) high = run.end;
    }
    this.#runs.splice(from, to - from, { start: low, end: high });
  }

  remove(start: bigint, end: bigint): void {
    if (start >= end) return;
    const from = this.#firstEndingAfter(start);
    let to = from;
    const rest: Interval[] = [];
    for (let run = this.#runs[to]; run !== undefined && run.start < end; run = this.#runs[++to]) {
      if (run.start < start) rest.push({ start: run.start, end: start });
      if (run.end > end) rest.push({ start: end, end: run.end });
    }
    this.#runs.splice(from, to - from, ...rest);
  }

  /** The members inside [start, end), as ranges. */
  within(start: bigint, end: bigint): Interval[] {
    const found: Interval[] = [];
    for (let i = this.#firstEndingAfter(start); i < this.#runs.length; i++) {
      const run = this.#runs[i] as Interval;
      if (run.start >= end) break;
      found.push({
        start: run.start < start ? start : run.start,
        end: run.end > end ? end : run.end,
      });
    }
    return found;
  }

  /** What is not a member inside [start, end), as ranges. */
  gapsWithin(start: bigint, end: bigint): Interval[] {
    const gaps: Interval[] = [];
    let next = start;
    for (const run of this.within(start, end)) {
      if (run.start > next) gaps.push({ start: next, end: run.start });
      next = run.end;
    }
    if (next < end) gaps.push({ start: next, end });
    return gaps;
  }

  /** Index of the first range whose end lies above `point`. */
  #firstEndingAfter(point: bigint): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#runs[middle] as Interval).end > point) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
