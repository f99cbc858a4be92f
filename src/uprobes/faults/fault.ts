import type { Rules } from '../core/rules.ts';
import type { Profile } from '../profiles.ts';

/** A mistake that an implementation of uprobes could make: wrong entries for the table of rules. */
export interface Fault {
  /** What is wrong, in one line. */
  readonly about: string;
  /** Where it can show at all; absent = under every profile. */
  readonly shows?: (profile: Profile) => boolean;
  /**
   * The wrong entries, made from the right ones.
   * @param whenUndone takes what must be cleaned up beside the table
   */
  readonly plant: (right: Rules, whenUndone: (cleanUp: () => void) => void) => Partial<Rules>;
}

export type Faults = Readonly<Record<string, Fault>>;

export const hasReturnSyscall = ({ uretTrampoline }: Profile): boolean =>
  uretTrampoline === 'syscall';

export const optimises = ({ optimise }: Profile): boolean => optimise !== 'none';
