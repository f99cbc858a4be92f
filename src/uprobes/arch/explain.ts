/** The analysis as `trapline explain` prints it. */
import { toHex } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Profile } from '../profiles.ts';
import { analyse } from './analyse.ts';
import type { RefusalErrno } from './analysis.ts';

export interface Explanation {
  /** Null when undecodable. */
  readonly length: number | null;
  readonly verdict: 'refuse' | 'emulate' | 'step';
  readonly errno: RefusalErrno | null;
  /** The profile would turn the site into a call. */
  readonly optimisable: boolean;
  readonly reason: string;
  readonly advice: string | null;
  /** Hex of the instruction in its slot, for `step`. */
  readonly xol: string | null;
  /** Register used for a RIP-relative operand. */
  readonly scratch: 'si' | 'di' | 'bx' | null;
}

const SCRATCH_NAMES: ReadonlyMap<Reg, 'si' | 'di' | 'bx'> = new Map([
  [Reg.Rsi, 'si'],
  [Reg.Rdi, 'di'],
  [Reg.Rbx, 'bx'],
]);

export const explain = (
  bytes: Uint8Array,
  profile: Profile,
  options: { readonly pageOffset?: number } = {},
): Explanation => {
  const analysis = analyse(bytes, profile, options);
  if (analysis.verdict === 'refuse') {
    const { verdict, errno, length, reason, advice } = analysis;
    return { length, verdict, errno, optimisable: false, reason, advice, xol: null, scratch: null };
  }
  const { verdict, length, reason, stepping } = analysis;
  const steps = verdict === 'step';
  return {
    length,
    verdict,
    errno: null,
    optimisable: analysis.optimise !== null,
    reason,
    advice: null,
    xol: steps ? toHex(stepping.bytes.subarray(0, length)) : null,
    scratch: stepping.scratch === null ? null : (SCRATCH_NAMES.get(stepping.scratch) ?? null),
  };
};
