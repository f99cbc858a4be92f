/** A piece of a campaign: so many cases from one seed. What a worker does. */
import type { EngineFactory } from '../../cpu/engine.ts';
import type { ProfileName } from '../../uprobes/index.ts';
import type { FuzzCase } from '../case.ts';
import { generateCase } from '../generate/case.ts';
import { mutateCase } from '../generate/mutate.ts';
import { Random } from '../random.ts';
import { Against, type Other, type Trial } from '../run/against.ts';
import { Runner } from '../run/runner.ts';
import type { SkipReason } from '../run/verdict.ts';
import { confirm, type Finding, keyOf, likeness, partingOf, reduced } from './finding.ts';

export interface BatchRequest {
  readonly seed: number;
  /** Batches of one campaign differ in this. */
  readonly stream: number;
  readonly cases: number;
  readonly profiles: readonly ProfileName[];
  /** Kept cases to make new ones of. */
  readonly corpus: readonly FuzzCase[];
  /** Keys of findings that need not be told again. */
  readonly known: readonly string[];
  /** Milliseconds after which it ends early. */
  readonly time?: number;
}

export interface BatchResult {
  readonly cases: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** What this worker had not seen before, and a case for each. */
  readonly covered: readonly { readonly key: string; readonly case: FuzzCase }[];
  readonly findings: readonly Finding[];
}

export interface WorkerOptions {
  /** Planted in every process: for tests of the fuzzer. */
  readonly fault?: string;
  /** What the probed function is compared with, instead of with itself unprobed. */
  readonly against?: { readonly profile: ProfileName } | { readonly factory: EngineFactory };
}

/** So many cases in a row are of one kernel: another one is another process. */
const PROFILE_RUN = 20;
/** One in so many is made of a kept case. */
const MUTATED_PERCENT = 30;

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/** Engines with what they have seen; lives as long as its worker. */
export class Worker {
  readonly #runner: Runner;
  /** Small cases are tried on another runner: they must not depend on what ran before. */
  readonly #second: Runner;
  readonly #coverage = new Set<string>();
  readonly #likenesses = new Map<string, number>();
  readonly #known = new Set<string>();

  readonly #engine: string;
  readonly #against: { readonly trial: Trial; readonly other: Other; readonly name: string } | null;

  constructor(factory: EngineFactory, { fault, against }: WorkerOptions = {}) {
    const options = { factory, ...(fault !== undefined && { fault }) };
    this.#runner = new Runner(options);
    this.#second = new Runner(options);
    this.#engine = factory.name;
    this.#against = null;
    if (against === undefined) return;
    const other: Other =
      'profile' in against
        ? { runner: new Runner(options), profile: against.profile }
        : { runner: new Runner({ factory: against.factory }) };
    const name = 'profile' in against ? against.profile : against.factory.name;
    this.#against = { trial: new Against(this.#runner, other), other, name };
  }

  run({ seed, stream, cases, profiles, corpus, known, time }: BatchRequest): BatchResult {
    for (const key of known) this.#known.add(key);
    const random = new Random(seed, stream);
    const skipped: Partial<Record<SkipReason, number>> = {};
    const covered: { key: string; case: FuzzCase }[] = [];
    const findings: Finding[] = [];
    const until = performance.now() + (time ?? Number.POSITIVE_INFINITY);
    let profile = random.pick(profiles);
    let done = 0;
    for (; done < cases && performance.now() < until; done++) {
      if (done % PROFILE_RUN === 0) profile = random.pick(profiles);
      const mutates = corpus.length > 0 && random.chance(MUTATED_PERCENT);
      const test = mutates
        ? mutateCase(random, [profile], corpus)
        : generateCase(random, [profile]);
      const verdict = (this.#against?.trial ?? this.#runner).run(test);
      if (verdict.kind === 'skipped') skipped[verdict.why] = (skipped[verdict.why] ?? 0) + 1;
      else if (verdict.kind !== 'same') {
        const finding = this.#find(test, verdict);
        if (finding !== null) findings.push(finding);
      }
      const key = this.#runner.lastPath;
      if (this.#coverage.has(key)) continue;
      this.#coverage.add(key);
      covered.push({ key, case: test });
    }
    return { cases: done, skipped, covered, findings };
  }

  dispose(): void {
    this.#runner.dispose();
    this.#second.dispose();
    this.#against?.other.runner.dispose();
  }

  /** Null when it is known, or probably is. */
  #find(test: FuzzCase, verdict: ReturnType<Runner['run']>): Finding | null {
    const like = likeness(test, verdict);
    const count = (this.#likenesses.get(like) ?? 0) + 1;
    this.#likenesses.set(like, count);
    // Another finding may look the same: have a closer look now and then.
    if (!isPowerOfTwo(count)) return null;
    const trial = this.#against?.trial ?? this.#second;
    const mine = this.#against?.other.profile === undefined ? this.#engine : test.profile;
    const reason = this.#against === null ? undefined : partingOf(mine, this.#against.name);
    const small = reduced(trial, test, verdict, reason);
    if (small === null || this.#known.has(keyOf(small))) return null;
    const finding = confirm(trial, small);
    if (finding !== null) this.#known.add(keyOf(finding));
    return finding;
  }
}
