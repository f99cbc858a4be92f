/** One case on one guest: the function as it is, then probed. */
import { Sig } from '../../abi/signals.ts';
import { fromHex } from '../../base/bytes.ts';
import { findProfile } from '../../uprobes/index.ts';
import { actsOf, type FuzzCase, hasMoments, returns } from '../case.ts';
import type { Guest } from '../guest/guest.ts';
import { FAR_TEXT, PAGE } from '../guest/layout.ts';
import { type Outcome, SP } from '../guest/outcome.ts';
import { type Allowed, withoutAllowed } from './allowed.ts';
import { compare, compareHits, type Difference } from './compare.ts';
import { Debugger } from './debugger.ts';
import { type CodeFacts, factsOfCode } from './facts.ts';
import { HitLog, type SeenHit } from './hits.ts';
import { type ProbedCall, ProbedRun } from './probed.ts';
import { steppedRun } from './self-check.ts';
import type { SkipReason, Verdict } from './verdict.ts';

/** How the function should end, and what handlers should see on the way (null: not compared). */
interface Expected {
  readonly outcome: Outcome;
  readonly hits: readonly SeenHit[] | null;
}

interface References {
  readonly near: Expected;
  /** In the second mapping of the text. */
  readonly far: Outcome;
  /** Without any trace that is allowed. */
  readonly plain: Outcome;
}

/** A debugger can do what the probes do: in the middle of an instruction it would spoil as much as they. */
const canModel = (test: FuzzCase, { starts }: CodeFacts): boolean =>
  !hasMoments(test) && test.probes.every(({ site }) => starts.has(site));

/** Handlers are compared only where there is more to see than that entries are hit. */
const comparesHits = (test: FuzzCase, facts: CodeFacts): boolean =>
  canModel(test, facts) && (returns(test) || actsOf(test).length > 0);

/** Before 6.18 the probed instruction ran even when a handler had moved ip. */
const movesIpInVain = (test: FuzzCase): boolean =>
  findProfile(test.profile)?.skipInsnWhenIpChanged === false &&
  actsOf(test).some(({ set }) => set === 'ip');

const isUnmodelled = (test: FuzzCase, facts: CodeFacts): boolean =>
  movesIpInVain(test) ||
  (!canModel(test, facts) && actsOf(test).length > 0) ||
  (hasMoments(test) && test.states === true);

const FILE_CHANGED: Difference = { what: 'file', expected: 'its own bytes', got: 'others' };

/** A function that has made its return address its stack reads our breakpoint there, or the trampoline. */
const isStackOf = ({ regs }: Outcome, area: bigint): boolean =>
  (regs[SP] ?? 0n) >= area && (regs[SP] ?? 0n) < area + BigInt(2 * PAGE);

const endOf = ({ end, signal }: Outcome): string =>
  signal === null ? end : `signal ${signal.signal}`;

const NOTHING: ReadonlySet<bigint> = new Set();

const skipped = (why: SkipReason): Verdict => ({ kind: 'skipped', why });

export class CaseRun {
  readonly #guest: Guest;
  readonly #test: FuzzCase;
  readonly #allowed: readonly Allowed[];
  readonly #facts: CodeFacts;
  readonly #log: HitLog;
  /** How the function ended: the unprobed one, where it runs. */
  ended = '';

  constructor(guest: Guest, test: FuzzCase, allowed: readonly Allowed[]) {
    this.#guest = guest;
    this.#test = test;
    this.#allowed = allowed;
    this.#log = new HitLog((signal) => guest.sendSignal(signal));
    this.#facts = factsOfCode(fromHex(test.code) ?? new Uint8Array());
  }

  /** Mnemonic at the first site. */
  get siteKind(): string {
    return this.#facts.starts.get(this.#test.probes[0]?.site ?? 0) ?? 'inside';
  }

  verdict(): Verdict {
    const guest = this.#guest;
    const test = this.#test;
    if (isUnmodelled(test, this.#facts)) return skipped('unmodelled');
    guest.load(test, this.#facts.vector);
    let near = this.#reference();
    // Uprobes may have looked at the program's own int3: the mm had probes before. From now on it has none.
    if (near.outcome.signal?.signal === Sig.SIGTRAP) near = this.#reference();
    this.ended = endOf(near.outcome);
    const { end } = near.outcome;
    if (end === 'lost' || end === 'unsupported') return skipped(end);
    const plain = near.outcome;
    const far = test.far === true ? guest.call(test, FAR_TEXT.start) : plain;
    const verdict = this.#against({ near, far, plain });
    if (verdict.kind !== 'different') return verdict;
    // Rare enough to look twice.
    const stepped = steppedRun(guest, test);
    if (this.#facts.unreliable || compare(plain, stepped.outcome).length > 0)
      return skipped('engine');
    const last = returns(test) ? this.#withReturnsSeen(verdict, { near, far, plain }) : verdict;
    return last.kind === 'different' ? { ...last, executed: stepped.executed } : last;
  }

  /** How the last call of the probed function ends; null when a probe is refused. */
  probedOutcome(): Outcome | null {
    this.#guest.load(this.#test, this.#facts.vector);
    let last: Outcome | null = null;
    const accepted = new ProbedRun(this.#guest, this.#test, this.#log).run(({ outcome }) => {
      last = outcome;
      this.ended = endOf(outcome);
      return true;
    });
    return accepted ? last : null;
  }

  /** Functions with return probes may see that: what is left when they are allowed to. */
  #withReturnsSeen(verdict: Verdict, { far, plain }: References): Verdict {
    const returnTo = this.#guest.areaAddress();
    const isAllowed = this.#allowed.some(({ name }) => name === 'return-address');
    if (returnTo === null || !isAllowed) return verdict;
    const second = this.#against({ near: this.#reference(returnTo), far, plain });
    return second;
  }

  #reference(returnTo?: bigint): Expected {
    const log = this.#log;
    log.clear();
    if (!comparesHits(this.#test, this.#facts))
      return { outcome: this.#guest.call(this.#test), hits: null };
    const options = returnTo === undefined ? {} : { returnTo };
    const outcome = new Debugger(this.#guest, this.#test, log, options).run();
    return { outcome, hits: [...log.seen] };
  }

  #against(references: References): Verdict {
    let verdict: Verdict = { kind: 'same' };
    const accepted = new ProbedRun(this.#guest, this.#test, this.#log).run((call) => {
      verdict = this.#judge(references, call);
      return verdict.kind === 'same';
    });
    return accepted ? verdict : skipped('refused');
  }

  #judge({ near, far, plain }: References, call: ProbedCall): Verdict {
    const { outcome: probed, when, counted } = call;
    const reference = call.far ? far : call.after ? plain : near.outcome;
    if (probed.end === 'unsupported') return skipped('unsupported');
    // One hit an iteration is more than a call is given time for.
    if (probed.end === 'lost' && this.#facts.repeats) return skipped('lost');
    const found = compare(reference, probed);
    if (near.hits !== null && counted) found.push(...compareHits(near.hits, this.#log.seen));
    if (!this.#guest.fileIsIntact()) found.push(FILE_CHANGED);
    if (found.length === 0) return { kind: 'same' };
    const area = this.#guest.areaAddress();
    if (area !== null && isStackOf(reference, area)) return skipped('lost');
    const differences = withoutAllowed(found, { reference, probed, area }, this.#allowed);
    return differences.length === 0
      ? { kind: 'same' }
      : { kind: 'different', when, differences, reference, probed, executed: NOTHING };
  }
}
