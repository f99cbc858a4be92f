/** The traces that probes leave and that are no errors; each has a test that shows it to be needed. */
import { Sig } from '../../abi/signals.ts';
import { hex } from '../../base/bytes.ts';
import type { Outcome } from '../guest/outcome.ts';
import type { Difference } from './compare.ts';

/** What a rule may look at besides the difference. */
export interface AllowedContext {
  readonly reference: Outcome;
  readonly probed: Outcome;
  /** Address of the `[uprobes]` page; null while there is none. */
  readonly area: bigint | null;
}

export interface Allowed {
  readonly name: string;
  /** Where the kernel says so. */
  readonly why: string;
  readonly covers: (difference: Difference, context: AllowedContext) => boolean;
}

export const ALLOWED: readonly Allowed[] = [
  {
    name: 'return-address',
    why: 'a function with a return probe finds the address of [uprobes] where its return address was; what it computes from that is compared with a reference that finds the same (case-run.ts)',
    covers: ({ got }, { area }) => area !== null && got === hex(area),
  },
  {
    name: 'stepped-fault-trapno',
    why: 'a fault in a slot is reported with the trap number from before the step (seen on 6.18.44)',
    covers: ({ what, got }) => what === 'trapno' && got === '0x0',
  },
  {
    name: 'user-single-step',
    why: 'the SIGTRAP of a program that steps itself comes by send_sig after a probed instruction: no address, no code',
    covers: ({ what }, { reference }) =>
      reference.signal?.signal === Sig.SIGTRAP && ['code', 'address', 'trapno'].includes(what),
  },
];

export const withoutAllowed = (
  differences: readonly Difference[],
  context: AllowedContext,
  allowed: readonly Allowed[] = ALLOWED,
): Difference[] =>
  differences.filter((difference) => !allowed.some(({ covers }) => covers(difference, context)));
