/** Runs a table of recorded instruction runs. */
import { fromHex } from '../base/bytes.ts';
import type { EngineFactory } from '../cpu/engine.ts';
import { type Handle, HandlerResult, type Profile } from '../uprobes/index.ts';
import { undefinedFlagsAfter } from '../x86/undefined-flags.ts';
import { factsOf } from './compare.ts';
import { type CaseResult, Comparison } from './difference.ts';
import {
  type ExecCase,
  type ExecTable,
  type Recorded,
  VARIANTS,
  type Variant,
} from './exec-table.ts';
import { Guest, type Outcome } from './guest.ts';
import { EngineLimits } from './limits.ts';

const RUNS: Readonly<Record<Variant, number>> = { plain: 1, probed: 1, probed_x3: 3 };

/** Flags that the instructions up to the site and itself leave open. */
const openFlags = ({ entry, site, code, bytes }: ExecCase): bigint => {
  const size = Number(BigInt(site) - BigInt(entry)) + bytes.length / 2;
  return undefinedFlagsAfter((fromHex(code) ?? new Uint8Array(0)).subarray(0, size));
};

type Fact = readonly [name: string, value: string];

/** How a site was handled shows only where it was hit. */
const recordedVerdict = ({ errno, how, optimised }: ExecCase, hits: number): Fact[] => [
  ['errno', errno],
  ...(hits === 0
    ? []
    : ([
        ['how', how ?? 'nothing'],
        ['optimised', `${optimised}`],
      ] as const)),
];

/** One table on one engine under one profile. */
export class Executor {
  readonly #table: ExecTable;
  readonly #guest: Guest;
  readonly #limits: EngineLimits;

  constructor(table: ExecTable, factory: EngineFactory, profile: Profile) {
    this.#table = table;
    this.#guest = new Guest(table, factory, profile);
    this.#limits = new EngineLimits(factory);
  }

  run(test: ExecCase): CaseResult {
    const comparison = new Comparison(test.name);
    for (const variant of VARIANTS) {
      const expected = test[variant];
      if (expected !== null) this.#runVariant(test, variant, expected, comparison);
    }
    return comparison.result();
  }

  dispose(): void {
    this.#guest.dispose();
  }

  #runVariant(test: ExecCase, variant: Variant, expected: Recorded, into: Comparison): void {
    this.#guest.renew(test);
    let hits = 0;
    const handle = variant === 'plain' ? null : this.#probe(test, () => hits++);
    const outcome = this.#repeat(test, RUNS[variant]);
    if ('unsupported' in outcome) {
      const reason = this.#limits.lacking(outcome, this.#guest.bytesAt(outcome.address));
      into.skip(variant, reason, outcome.unsupported);
      return;
    }
    const unseen =
      this.#limits.invisible(expected, this.#table) ??
      this.#limits.wrong(test, outcome, this.#table);
    if (unseen !== null) {
      into.skip(variant, unseen, test.bytes);
      return;
    }
    const open = openFlags(test);
    const verdict = variant === 'probed';
    into.compare(
      variant,
      new Map([
        ...factsOf(test, expected, expected, open),
        ...(verdict ? recordedVerdict(test, hits) : []),
      ]),
      new Map([
        ...factsOf(test, { ...outcome, hits }, expected, open),
        ...(verdict ? this.#verdict(handle, hits) : []),
      ]),
    );
  }

  /** What was made of the probe in this process. */
  #verdict(handle: Handle | string | null, hits: number): Fact[] {
    const errno = typeof handle === 'string' ? handle : 'ok';
    if (hits === 0) return [['errno', errno]];
    const { singleSteps, optimisedSites } = this.#guest.uprobes.counters;
    return [
      ['errno', errno],
      ['how', singleSteps > 0 ? 'xol' : 'emulated'],
      ['optimised', `${optimisedSites > 0}`],
    ];
  }

  #probe({ site }: ExecCase, hit: () => void): Handle | string {
    const { uprobes, text } = this.#guest;
    return uprobes.register(text, text.offsetOf(BigInt(site)), {
      entry: () => {
        hit();
        return HandlerResult.Continue;
      },
    });
  }

  /** Several runs in one process; the last one counts. */
  #repeat(test: ExecCase, runs: number): Outcome {
    let outcome = this.#guest.run(test);
    for (let run = 1; run < runs && !('unsupported' in outcome); run++)
      outcome = this.#guest.run(test);
    return outcome;
  }
}
