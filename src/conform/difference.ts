/** Where one case of a table and we part. */
export interface Difference {
  readonly case: string;
  /** The run or column it is in. */
  readonly in: string;
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** A run that cannot be compared on this engine, and why. */
export interface NotRun {
  readonly in: string;
  /** A few words without numbers, equal for equal causes. */
  readonly reason: string;
  /** More about this one. */
  readonly detail: string;
}

/** What one case came to. */
export interface CaseResult {
  readonly name: string;
  /** Recorded runs, or columns, that were compared; 0 = the case was not run. */
  readonly compared: number;
  readonly differences: readonly Difference[];
  readonly notRun: readonly NotRun[];
}

/** Collects the differences of one case. */
export class Comparison {
  readonly differences: Difference[] = [];
  readonly notRun: NotRun[] = [];
  readonly #name: string;
  #compared = 0;

  constructor(name: string) {
    this.#name = name;
  }

  skip(where: string, reason: string, detail: string): void {
    this.notRun.push({ in: where, reason, detail });
  }

  /** Both sides have the same keys, or lack of one is the difference. */
  compare(where: string, expected: Facts, got: Facts): void {
    this.#compared++;
    for (const what of new Set([...expected.keys(), ...got.keys()])) {
      const want = expected.get(what) ?? 'nothing';
      const have = got.get(what) ?? 'nothing';
      if (want === have) continue;
      this.differences.push({ case: this.#name, in: where, what, expected: want, got: have });
    }
  }

  result(): CaseResult {
    const { differences, notRun } = this;
    return { name: this.#name, compared: this.#compared, differences, notRun };
  }
}

/** What is compared, by name. */
export type Facts = ReadonlyMap<string, string>;
