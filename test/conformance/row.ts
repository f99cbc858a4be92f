/**
 * The conformance list: one row an id. A file in `rows/` exports rows as its default, and that is all there is to
 * adding some; `npm run conformance` brings `docs/conformance.md` up to date.
 */
import type { EngineFactory } from '../../src/cpu/engine.ts';
import type { Profile, Uprobes } from '../../src/uprobes/index.ts';
import { Rig, type RigOptions } from '../uprobes/rig.ts';

/** A case that is run. */
export interface Row {
  /** As `C5`. */
  readonly id: string;
  /** What is done and shown, one line. */
  readonly what: string;
  /** Where the expected values come from: a kernel, a self-test, the manual, arithmetic. */
  readonly from: string;
  /** Profiles it holds for; absent = all. */
  readonly applies?: (profile: Profile) => boolean;
  /** Asserts with vitest's `expect`. */
  readonly run: (trial: Trial) => void | Promise<void>;
}

/** A case that waits for something. */
export interface Later {
  readonly id: string;
  readonly what: string;
  /** What is missing. */
  readonly later: string;
}

export type Rows = readonly (Row | Later)[];

export const isRow = (row: Row | Later): row is Row => 'run' in row;

/** The nop that a profile turns into a call; where it turns none, the nop5 that later ones do. */
const NOPS = {
  nop5: { hex: '0f 1f 44 00 00', size: 5 },
  nop10: { hex: '66 2e 0f 1f 84 00 00 00 00 00', size: 10 },
} as const;

/** One run of a row: an engine, a profile, and everything the run has made. */
export class Trial {
  readonly engine: EngineFactory;
  readonly profile: Profile;
  readonly nop: (typeof NOPS)[keyof typeof NOPS];
  readonly #prepare: (uprobes: Uprobes) => void;
  readonly #options: Partial<RigOptions>;
  readonly #made: { dispose(): void }[] = [];

  /**
   * @param prepare is given every uprobe layer before its first probe; plants faults
   * @param options of all rigs
   */
  constructor(
    engine: EngineFactory,
    profile: Profile,
    prepare: (uprobes: Uprobes) => void = () => {},
    options: Partial<RigOptions> = {},
  ) {
    this.engine = engine;
    this.profile = profile;
    this.nop = NOPS[profile.optimise === 'nop10' ? 'nop10' : 'nop5'];
    this.#prepare = prepare;
    this.#options = options;
  }

  /** A process with this text (hex by address) whose signals are caught. */
  rig(text: Readonly<Record<string, string>>, options: Partial<RigOptions> = {}): Rig {
    const { engine: factory, profile } = this;
    const rig = this.uses(
      new Rig({ factory, profile: profile.name, text, ...this.#options, ...options }),
    );
    rig.catchSignals();
    this.prepare(rig.uprobes);
    return rig;
  }

  /** For rows that make their own machine: call it before the first probe is attached. */
  prepare(uprobes: Uprobes): void {
    this.#prepare(uprobes);
  }

  /** The same on a CPU with a shadow stack. */
  withShadowStack(): Trial {
    const { engine, profile } = this;
    return this.uses(new Trial(engine, profile, this.#prepare, { shadowStack: true }));
  }

  /** Frees it at the end of the run. */
  uses<T extends { dispose(): void }>(thing: T): T {
    this.#made.push(thing);
    return thing;
  }

  dispose(): void {
    for (const thing of this.#made.splice(0)) thing.dispose();
  }
}

/** Runs a row; throws what its first failing assertion throws. */
export const runRow = async (row: Row, trial: Trial): Promise<void> => {
  try {
    await row.run(trial);
  } finally {
    trial.dispose();
  }
};
