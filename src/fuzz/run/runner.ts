/** Runs cases on one engine: the function as it is, and probed. */
import type { Engine, EngineFactory } from '../../cpu/engine.ts';
import { findProfile, type ProfileName, type UprobeCounters } from '../../uprobes/index.ts';
import { plantFault } from '../../uprobes/testing.ts';
import type { FuzzCase } from '../case.ts';
import { Guest } from '../guest/guest.ts';
import type { Outcome } from '../guest/outcome.ts';
import { ALLOWED, type Allowed } from './allowed.ts';
import { CaseRun } from './case-run.ts';
import { compare } from './compare.ts';
import type { Verdict } from './verdict.ts';

export interface RunnerOptions {
  readonly factory: EngineFactory;
  /** Planted in every guest: for tests of the fuzzer itself. */
  readonly fault?: string;
  readonly allowed?: readonly Allowed[];
}

/** Which counters have grown: how a hit went. */
const pathOf = (before: UprobeCounters, after: UprobeCounters): string =>
  Object.entries(after)
    .flatMap(([name, count]) => (count > before[name as keyof UprobeCounters] ? [name] : []))
    .join('+');

/**
 * Which trampoline a far call finds depends on those there are, and they are never unmapped. A process that had a
 * probe once may still look at every int3, also at the long form.
 */
const needsItsOwn = ({ far, code }: FuzzCase): boolean => far === true || code.includes('cd03');

export class Runner {
  readonly #options: RunnerOptions;
  /** Making an engine costs as much as many cases: one serves all guests, until it breaks. */
  #engine: Engine | null = null;
  #guest: { readonly profile: ProfileName; readonly guest: Guest } | null = null;
  /** What the last case was and which way it went: kind of instruction, uprobes' work, end, profile. */
  lastPath = '';

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Never throws: what breaks is a finding. */
  run(test: FuzzCase): Verdict {
    try {
      return this.#run(test);
    } catch (error) {
      this.#guest = null;
      this.#dropEngine();
      return { kind: 'crash', message: error instanceof Error ? error.message : `${error}` };
    }
  }

  /** The same, in a process that has run nothing before. */
  runFresh(test: FuzzCase): Verdict {
    this.#dropGuest();
    return this.run(test);
  }

  /** The next case gets a process of its own. */
  forget(): void {
    this.#dropGuest();
  }

  /** The last call of the probed function here and there. */
  compareProbed(test: FuzzCase, other: Runner, there: FuzzCase): Verdict {
    try {
      const mine = this.#probedOutcome(test);
      const theirs = mine === null ? null : other.#probedOutcome(there);
      if (mine === null || theirs === null) return { kind: 'skipped', why: 'refused' };
      const ends = [mine.end, theirs.end];
      if (ends.includes('unsupported')) return { kind: 'skipped', why: 'unsupported' };
      if (ends.includes('lost')) return { kind: 'skipped', why: 'lost' };
      const differences = compare(theirs, mine);
      if (differences.length === 0) return { kind: 'same' };
      const when = `call ${test.calls}`;
      const executed = new Set<bigint>();
      return { kind: 'different', when, differences, reference: theirs, probed: mine, executed };
    } catch (error) {
      this.dispose();
      other.dispose();
      return { kind: 'crash', message: error instanceof Error ? error.message : `${error}` };
    }
  }

  #probedOutcome(test: FuzzCase): Outcome | null {
    return this.#look(test, (run) => run.probedOutcome());
  }

  dispose(): void {
    this.#guest = null;
    this.#dropEngine();
  }

  #guestOf(profile: ProfileName): Guest {
    if (this.#guest?.profile === profile) return this.#guest.guest;
    this.#dropGuest();
    this.#engine ??= this.#options.factory.create();
    const guest = new Guest(this.#engine, findProfile(profile)!);
    if (this.#options.fault !== undefined) plantFault(guest.uprobes, this.#options.fault);
    this.#guest = { profile, guest };
    return guest;
  }

  #dropGuest(): void {
    this.#guest?.guest.release();
    this.#guest = null;
  }

  #dropEngine(): void {
    try {
      this.#engine?.dispose();
    } catch {
      // It is broken already.
    }
    this.#engine = null;
  }

  #run(test: FuzzCase): Verdict {
    return this.#look(test, (run) => run.verdict());
  }

  /** Gives the case a process that suits it, and notes which way it went. */
  #look<T>(test: FuzzCase, look: (run: CaseRun) => T): T {
    const alone = needsItsOwn(test);
    if (alone) this.#dropGuest();
    const guest = this.#guestOf(test.profile);
    if (test.far === true) guest.mapFar();
    const before = { ...guest.uprobes.counters };
    const run = new CaseRun(guest, test, this.#options.allowed ?? ALLOWED);
    const found = look(run);
    this.lastPath = `${run.siteKind} ${pathOf(before, guest.uprobes.counters)} ${run.ended} ${test.profile}`;
    if (alone) this.#dropGuest();
    return found;
  }
}
