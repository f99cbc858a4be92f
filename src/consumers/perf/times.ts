/** total_time_enabled and total_time_running; they are one here: there is always room for all events. */
export class EventTimes {
  readonly #now: () => bigint;
  #total = 0n;
  #since: bigint | null = null;

  /** @param now time that passes for the event: its task's, or the machine's */
  constructor(now: () => bigint) {
    this.#now = now;
  }

  get enabled(): bigint {
    return this.#since === null ? this.#total : this.#total + this.#now() - this.#since;
  }

  get running(): bigint {
    return this.enabled;
  }

  start(): void {
    this.#since ??= this.#now();
  }

  stop(): void {
    this.#total = this.enabled;
    this.#since = null;
  }

  capture(): readonly [bigint, bigint | null] {
    return [this.#total, this.#since];
  }

  restore([total, since]: readonly [bigint, bigint | null]): void {
    this.#total = total;
    this.#since = since;
  }
}
