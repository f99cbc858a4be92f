import { pageUp, u64 } from '../../base/bytes.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import type { Vma } from '../../memory/vma.ts';

/** The vmas that overlap a range, and whether they cover all of it. */
export const vmasIn = (
  space: AddressSpace,
  start: bigint,
  end: bigint,
): { readonly vmas: readonly Vma[]; readonly whole: boolean } => {
  const vmas: Vma[] = [];
  let at = start;
  let whole = true;
  for (let vma = space.findOrNext(start); vma !== undefined && vma.start < end; ) {
    vmas.push(vma);
    whole &&= vma.start <= at;
    at = vma.end;
    vma = space.findOrNext(at);
  }
  return { vmas, whole: whole && at >= end };
};

/** The page range of (start, length) as mlock, msync and madvise see it; wrapping is seen by `end`. */
export const pagesOf = (
  start: bigint,
  length: bigint,
): { readonly start: bigint; readonly end: bigint } => ({
  start,
  end: u64(start + u64(pageUp(length))),
});
