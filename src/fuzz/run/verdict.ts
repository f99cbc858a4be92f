import type { Outcome } from '../guest/outcome.ts';
import type { Difference } from './compare.ts';

/**
 * Why a case says nothing: a probe is refused, the engine lacks an instruction or does not agree with itself, the
 * function does not end, or the reference cannot do what the handlers do.
 */
export type SkipReason = 'refused' | 'unsupported' | 'engine' | 'lost' | 'unmodelled';

/** The probed function differs from the unprobed one. */
export interface Different {
  readonly kind: 'different';
  /** Which call. */
  readonly when: string;
  readonly differences: readonly Difference[];
  readonly reference: Outcome;
  readonly probed: Outcome;
  /** Addresses of the instructions that ran, unprobed. */
  readonly executed: ReadonlySet<bigint>;
}

/** What a case came to. */
export type Verdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'skipped'; readonly why: SkipReason }
  | Different
  /** The engine or the kernel layer broke down. */
  | { readonly kind: 'crash'; readonly message: string };
