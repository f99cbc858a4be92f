/** Options of {@link Clock}. */
export interface ClockOptions {
  /** Monotonic time when the machine starts, in nanoseconds; default 0. */
  readonly startNs?: bigint;
  /** Real time (since 1970) when the machine starts; default 2026-01-01T00:00:00Z. */
  readonly epochNs?: bigint;
}

/** One instruction takes this long on the machine's clock. */
export const NS_PER_INSTRUCTION = 1n;

const DEFAULT_EPOCH_NS = 1_767_225_600_000_000_000n;

/**
 * The machine's time: executed instructions plus what sleeping skipped. It never looks at the host's
 * clock, so that a run repeats exactly.
 */
export class Clock {
  readonly #instructions: () => number;
  readonly #epochNs: bigint;
  #offsetNs: bigint;

  /** @param instructions executed so far, on all engines of the machine */
  constructor(instructions: () => number, options: ClockOptions = {}) {
    this.#instructions = instructions;
    this.#offsetNs = options.startNs ?? 0n;
    this.#epochNs = (options.epochNs ?? DEFAULT_EPOCH_NS) - this.#offsetNs;
  }

  /** CLOCK_MONOTONIC. */
  monotonicNs(): bigint {
    return this.#offsetNs + BigInt(this.#instructions()) * NS_PER_INSTRUCTION;
  }

  /** CLOCK_REALTIME. */
  realtimeNs(): bigint {
    return this.#epochNs + this.monotonicNs();
  }

  /** Nothing can run before `timeNs`: goes there. Never goes back. */
  skipTo(timeNs: bigint): void {
    const ahead = timeNs - this.monotonicNs();
    if (ahead > 0n) this.#offsetNs += ahead;
  }

  capture(): bigint {
    return this.monotonicNs();
  }

  /** Preconditions: the engines are restored. */
  restore(timeNs: bigint): void {
    this.#offsetNs += timeNs - this.monotonicNs();
  }
}
