/** Instructions that show TF to the program, or load it. */
import type { Mm } from '../../kernel/mm.ts';

/** pushf, popf, syscall. */
const SHOWS_TF: readonly (readonly number[])[] = [[0x9c], [0x9d], [0x0f, 0x05]];
const LONGEST = 2;

/** Length of the instruction at `at` if it is one of them: it is run up to a breakpoint behind it, not stepped. */
export const lengthIfShowsTf = (mm: Mm, at: bigint): bigint | null => {
  const start = new Uint8Array(LONGEST);
  if (mm.space.readForced(at, start) < LONGEST) return null;
  const found = SHOWS_TF.find((bytes) => bytes.every((byte, i) => start[i] === byte));
  return found === undefined ? null : BigInt(found.length);
};
