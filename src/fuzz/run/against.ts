/** The probed function on two kernels, or two engines: what differs between them is the finding. */
import type { ProfileName } from '../../uprobes/index.ts';
import type { FuzzCase } from '../case.ts';
import type { Runner } from './runner.ts';
import type { Verdict } from './verdict.ts';

/** Something that runs cases. */
export interface Trial {
  run(test: FuzzCase): Verdict;
  /** The same, in a process that has run nothing before. */
  runFresh(test: FuzzCase): Verdict;
}

export interface Other {
  readonly runner: Runner;
  /** Absent: that of the case. */
  readonly profile?: ProfileName;
}

export class Against implements Trial {
  readonly #runner: Runner;
  readonly #other: Other;

  constructor(runner: Runner, other: Other) {
    this.#runner = runner;
    this.#other = other;
  }

  run(test: FuzzCase): Verdict {
    const { runner, profile = test.profile } = this.#other;
    return this.#runner.compareProbed(test, runner, { ...test, profile });
  }

  runFresh(test: FuzzCase): Verdict {
    this.#runner.forget();
    this.#other.runner.forget();
    return this.run(test);
  }
}
