import { MAX_SAMPLE_RATE } from '../../abi/perf.ts';
import type { PerfAttr } from './attr.ts';

const NS_PER_SECOND = 1_000_000_000n;
/** Two ticks of 4 ms: samples further apart tell nothing of the rate. */
const ADJUST_WITHIN_NS = 8_000_000n;

/** A period that user space may ask for: bit 63 marks a negative one. */
export const validPeriod = (value: bigint, isFrequency: boolean): boolean =>
  isFrequency ? value <= MAX_SAMPLE_RATE : value >> 63n === 0n;

/** When a counter of single hits overflows (perf_swevent_event and perf_swevent_set_period). */
export class SamplePeriod {
  /** Hits from one sample to the next; 0 = the event only counts. */
  period: bigint;
  /** The period of the sample that is being taken. */
  lastPeriod: bigint;
  /** -N: N hits are missing; sampled when it reaches 0. */
  #left: bigint;
  readonly #isFrequency: boolean;
  /** PERF_SAMPLE_PERIOD without a frequency: the kernel then samples every hit, with period 1. */
  readonly #everyHit: boolean;
  /** Samples a second, with `freq`. */
  #frequency: bigint;
  #lastSampleNs = 0n;

  constructor({ samplePeriod, flags }: PerfAttr, samplesPeriod: boolean) {
    this.#isFrequency = flags.has('freq');
    this.#everyHit = samplesPeriod && !this.#isFrequency;
    this.#frequency = samplePeriod;
    this.period = this.#isFrequency && samplePeriod !== 0n ? 1n : samplePeriod;
    this.lastPeriod = this.period;
    this.#left = -this.period;
  }

  get isFrequency(): boolean {
    return this.#isFrequency;
  }

  get isSampling(): boolean {
    return this.period !== 0n;
  }

  /** PERF_EVENT_IOC_PERIOD. Preconditions: {@link validPeriod}, not 0. */
  set(value: bigint): void {
    if (this.#isFrequency) this.#frequency = value;
    else this.period = value;
    this.#left = 0n;
  }

  /** One hit; true when it is to be sampled. Preconditions: the event samples. */
  hit(nowNs: () => bigint): boolean {
    if (this.#everyHit) {
      this.lastPeriod = 1n;
      return true;
    }
    if (this.period !== 1n || this.#isFrequency) {
      this.#left++;
      if (this.#left < 0n) return false;
      this.#reload();
    }
    if (this.#isFrequency) this.#adjust(nowNs());
    return true;
  }

  capture(): readonly bigint[] {
    return [this.period, this.lastPeriod, this.#left, this.#frequency, this.#lastSampleNs];
  }

  restore(state: readonly bigint[]): void {
    [this.period, this.lastPeriod, this.#left, this.#frequency, this.#lastSampleNs] = state as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ];
  }

  #reload(): void {
    const overflows = (this.period + this.#left) / this.period;
    this.#left -= overflows * this.period;
    this.lastPeriod = this.period;
  }

  /** perf_adjust_period: an eighth of the way to the period that would give the frequency. */
  #adjust(nowNs: bigint): void {
    const delta = nowNs - this.#lastSampleNs;
    this.#lastSampleNs = nowNs;
    if (delta <= 0n || delta >= ADJUST_WITHIN_NS) return;
    const wanted = (this.lastPeriod * NS_PER_SECOND) / (delta * this.#frequency);
    const difference = wanted - this.period;
    const step = (difference + (difference >= 0n ? 7n : -7n)) / 8n;
    this.period = this.period + step || 1n;
  }
}
