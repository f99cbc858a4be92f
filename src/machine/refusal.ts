/** Why the kernel refused a registration, and what would work instead. */
import { type ErrnoName, errnoNumber } from '../abi/errno.ts';
import { hex, PAGE_MASK } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';
import type { Inode } from '../memory/backing.ts';
import { COPY_SIZE, type Explanation, explain, type Profile } from '../uprobes/index.ts';

export interface RefusedPlace {
  readonly inode: Inode;
  readonly offset: bigint;
  readonly refCtr: bigint;
}

interface Refusal {
  readonly reason: string;
  readonly hint: string | null;
}

/** What the kernel makes of the instruction at a place. */
export const judge = (
  { inode, offset }: Pick<RefusedPlace, 'inode' | 'offset'>,
  profile: Profile,
): Explanation => {
  const bytes = new Uint8Array(COPY_SIZE);
  inode.read(offset, bytes);
  return explain(bytes, profile, { pageOffset: Number(offset & PAGE_MASK) });
};

/**
 * A probe that cannot be had.
 * @param wish how messages name it, `probe "…"`
 */
export const badProbe = (
  wish: string,
  reason: string,
  errno: ErrnoName,
  hint: string | null = null,
): TraplineError =>
  new TraplineError('bad-probe', `${wish}: ${reason} (${errno}, errno ${errnoNumber(errno)})`, {
    errno,
    ...(hint !== null && { hint }),
  });

/** uprobe_register refuses a consumer that has nothing to call. */
export const requireHandler = (
  wish: string,
  handlers: { readonly entry?: unknown; readonly return?: unknown },
): void => {
  if (handlers.entry !== undefined || handlers.return !== undefined) return;
  const reason = 'neither an entry nor a return handler';
  throw badProbe(`probe "${wish}"`, reason, 'EINVAL', 'give one of them, or both');
};

/** In the order of the kernel's own checks (uprobe_register, then the analysis). */
export const whyRefused = (errno: ErrnoName, place: RefusedPlace, profile: Profile): Refusal => {
  const { inode, offset, refCtr } = place;
  const list = `\`trapline list ${inode.path}\` shows what there is`;
  if (offset > inode.size) {
    const hint = `it has ${hex(inode.size)} bytes; ${list}`;
    return { reason: `offset ${hex(offset)} is outside the file`, hint };
  }
  if (errno === 'EIO') return { reason: 'the offset is the end of the file', hint: list };
  if (errno === 'ENOTSUPP' || errno === 'ENOEXEC') {
    const { reason, advice } = judge(place, profile);
    return { reason, hint: advice };
  }
  if (refCtr % 2n !== 0n)
    return {
      reason: `the reference counter ${hex(refCtr)} is at an odd offset`,
      hint: 'a counter is two bytes at an even offset of the file',
    };
  if (errno === 'EINVAL')
    return {
      reason: 'another probe at this place has a different reference counter',
      hint: 'give all probes of one place the same (REF_CTR), or none',
    };
  return { reason: 'the kernel refuses it', hint: null };
};
