/** A campaign: batches handed to workers until time, count or patience is over. */
import type { ProfileName } from '../../uprobes/index.ts';
import type { FuzzCase } from '../case.ts';
import { Random } from '../random.ts';
import type { BatchRequest, BatchResult } from './batch.ts';
import type { Corpus } from './corpus.ts';
import { type Finding, keyOf } from './finding.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly profiles: readonly ProfileName[];
  /** Batches under way at a time. */
  readonly jobs: number;
  /** Cases after which it ends. */
  readonly count?: number;
  /** Milliseconds after which it ends. */
  readonly time?: number;
  /** This campaign has every `of`-th batch, from the `index`-th on. */
  readonly shard?: { readonly index: number; readonly of: number };
  readonly corpus?: Corpus;
  /** Runs a batch in some worker. */
  readonly run: (request: BatchRequest) => Promise<BatchResult>;
  readonly onFinding?: (finding: Finding) => void;
  readonly onProgress?: (totals: Totals) => void;
}

export interface Totals {
  cases: number;
  /** By reason. */
  readonly skipped: Record<string, number>;
  coverage: number;
  findings: number;
  /** Milliseconds. */
  elapsed: number;
}

/** Cases of a batch; the first are smaller, since cold engines are slow and all findings are new. */
const BATCH = 250;
const FIRST_BATCH = 25;
/** Kept cases that a batch makes new ones of. */
const SAMPLE = 24;

export class Campaign {
  readonly totals: Totals = { cases: 0, skipped: {}, coverage: 0, findings: 0, elapsed: 0 };
  readonly #options: CampaignOptions;
  readonly #cases = new Map<string, FuzzCase>();
  readonly #known = new Map<string, Finding>();
  readonly #started = performance.now();
  #stream: number;
  #asked = 0;
  #batch = FIRST_BATCH;
  #done = 0;
  #stopped = false;

  constructor(options: CampaignOptions) {
    this.#options = options;
    const { corpus, seed } = options;
    this.#stream = corpus?.progress(seed).stream ?? 0;
    this.#done = this.#stream;
    for (const [key, test] of corpus?.cases() ?? []) this.#cases.set(key, test);
    for (const finding of corpus?.findings() ?? []) this.#known.set(keyOf(finding), finding);
    this.totals.coverage = this.#cases.size;
    this.totals.findings = this.#known.size;
  }

  /** Findings so far, those of earlier runs on the same corpus too. */
  get findings(): readonly Finding[] {
    return [...this.#known.values()];
  }

  /** No batch is begun any more; those under way are waited for. */
  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<Totals> {
    const lanes = Array.from({ length: this.#options.jobs }, () => this.#lane());
    await Promise.all(lanes);
    return this.totals;
  }

  async #lane(): Promise<void> {
    for (;;) {
      const request = this.#next();
      if (request === null) return;
      const result = await this.#options.run(request);
      this.#take(result);
    }
  }

  /** The next batch, or null when the campaign is over. */
  #next(): BatchRequest | null {
    const { count, time, seed, profiles, shard = { index: 0, of: 1 } } = this.#options;
    const left = time === undefined ? null : time - (performance.now() - this.#started);
    const cases = Math.min(this.#batch, (count ?? Number.POSITIVE_INFINITY) - this.#asked);
    if (this.#stopped || cases <= 0 || (left !== null && left <= 0)) return null;
    this.#batch = Math.min(BATCH, this.#batch + FIRST_BATCH);
    this.#asked += cases;
    const stream = this.#stream++ * shard.of + shard.index;
    return {
      seed,
      stream,
      cases,
      profiles,
      corpus: this.#sample(stream),
      known: this.#keys(),
      ...(left !== null && { time: left }),
    };
  }

  #keys(): string[] {
    return [...this.#known.keys()];
  }

  #sample(stream: number): FuzzCase[] {
    const cases = [...this.#cases.values()];
    if (cases.length === 0) return [];
    const random = new Random(this.#options.seed, -1 - stream);
    return Array.from({ length: Math.min(SAMPLE, cases.length) }, () => random.pick(cases));
  }

  #take({ cases, skipped, covered, findings }: BatchResult): void {
    const { totals } = this;
    const { corpus, seed, onFinding, onProgress } = this.#options;
    totals.cases += cases;
    for (const [why, count] of Object.entries(skipped))
      totals.skipped[why] = (totals.skipped[why] ?? 0) + count;
    for (const { key, case: test } of covered) {
      if (this.#cases.has(key)) continue;
      this.#cases.set(key, test);
      corpus?.keep(key, test);
    }
    for (const finding of findings) {
      if (this.#known.has(keyOf(finding))) continue;
      this.#known.set(keyOf(finding), finding);
      corpus?.keepFinding(finding);
      onFinding?.(finding);
    }
    totals.coverage = this.#cases.size;
    totals.findings = this.#known.size;
    totals.elapsed = performance.now() - this.#started;
    corpus?.keepProgress({ seed, stream: ++this.#done });
    onProgress?.(totals);
  }
}
