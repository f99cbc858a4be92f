/** The two ways a site calls its trampoline, as data (spec sections 5.3 to 5.5). */
import type { Accepted } from '../arch/analysis.ts';

export interface OptimisedForm {
  /** Bytes of the site. */
  readonly size: number;
  /** What stands before the call's four displacement bytes. */
  readonly head: readonly number[];
  /** How far the site moves sp before the call pushes: the red zone. */
  readonly spared: bigint;
  /** The last write of a patch asks for the whole head; when it fails, the nop's bytes come back. */
  readonly careful: boolean;
}

/** call rel32 */
const NOP5: OptimisedForm = { size: 5, head: [0xe8], spared: 0n, careful: false };

/** lea -0x80(%rsp),%rsp; call rel32 */
const NOP10: OptimisedForm = {
  size: 10,
  head: [0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8],
  spared: 0x80n,
  careful: true,
};

export type Forms = Readonly<Record<NonNullable<Accepted['optimise']>, OptimisedForm>>;

export const FORMS: Forms = {
  nop5: NOP5,
  nop10: NOP10,
};
