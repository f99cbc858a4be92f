import { SIGRTMIN, sigBit } from '../../abi/signals.ts';
import type { SignalInfo } from './siginfo.ts';

/** A queue of signals not yet delivered (sigpending): one of a kind, except real-time ones. */
export class PendingSignals {
  /** Bit `n - 1` is set while signal n is queued. */
  mask = 0n;
  #queue: SignalInfo[] = [];

  /** Queues a signal; a standard one that is already there is lost. */
  add(info: SignalInfo): void {
    const bit = sigBit(info.signal);
    if (info.signal < SIGRTMIN && (this.mask & bit) !== 0n) return;
    this.mask |= bit;
    this.#queue.push(info);
  }

  /** Oldest entry for which `test` holds, without taking it. */
  find(test: (info: SignalInfo) => boolean): SignalInfo | undefined {
    return this.#queue.find(test);
  }

  /** Takes the oldest entry of a signal. Preconditions: its bit is set in {@link mask}. */
  take(signal: number): SignalInfo {
    const index = this.#queue.findIndex((info) => info.signal === signal);
    const [info] = this.#queue.splice(index, 1);
    if (!this.#queue.some((other) => other.signal === signal)) this.mask &= ~sigBit(signal);
    return info!;
  }

  /** Drops every entry of the signals in `set`. */
  discard(set: bigint): void {
    if ((this.mask & set) === 0n) return;
    this.#queue = this.#queue.filter((info) => (sigBit(info.signal) & set) === 0n);
    this.mask &= ~set;
  }

  capture(): readonly SignalInfo[] {
    return [...this.#queue];
  }

  restore(queue: readonly SignalInfo[]): void {
    this.#queue = [...queue];
    this.mask = queue.reduce((mask, info) => mask | sigBit(info.signal), 0n);
  }
}
