import { Madv, Msync } from '../../abi/mman.ts';
import { greatest, least, PAGE_MASK, PAGE_SIZE, pageDown, pageUp, u64 } from '../../base/bytes.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import type { Vma } from '../../memory/vma.ts';
import { type Answer, always, answering } from './answer.ts';
import { pagesOf, vmasIn } from './ranges.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { accessOk, put } from './user.ts';

/** What an advice does to the part of a vma inside [start, end). */
type Advice = (space: AddressSpace, vma: Vma, start: bigint, end: bigint) => 'EINVAL' | null;

/** MADV_DONTNEED. Shared pages keep what they hold: it belongs to all who map it. */
const discard: Advice = (space, vma, start, end) => {
  // VM_PFNMAP: the pages are nobody's to drop.
  if (vma.special?.indivisible === true) return 'EINVAL';
  if (vma.shared) return null;
  const from = greatest(start, vma.start);
  space.discard(from, least(end, vma.end) - from);
  return null;
};

const anonymousOnly: Advice = (_space, { file, shared }) =>
  file === null && !shared ? null : 'EINVAL';
const nothing: Advice = () => null;
/** VM_IO and VM_DONTEXPAND: such pages stay out of children and core files. */
const notSpecial: Advice = (_space, { special }) => (special === null ? null : 'EINVAL');

/** What each advice does to one vma. Advice that is only a hint does nothing. */
const ADVICE: ReadonlyMap<number, Advice> = new Map<number, Advice>([
  ...[
    Madv.NORMAL,
    Madv.RANDOM,
    Madv.SEQUENTIAL,
    Madv.WILLNEED,
    Madv.DONTFORK,
    Madv.MERGEABLE,
    Madv.UNMERGEABLE,
    Madv.HUGEPAGE,
    Madv.NOHUGEPAGE,
    Madv.DONTDUMP,
    Madv.KEEPONFORK,
    Madv.COLD,
    Madv.PAGEOUT,
    Madv.POPULATE_READ,
    Madv.POPULATE_WRITE,
  ].map((advice): [number, Advice] => [advice, nothing]),
  [Madv.DONTNEED, discard],
  [Madv.DOFORK, notSpecial],
  [Madv.DODUMP, notSpecial],
  [Madv.FREE, anonymousOnly],
  [Madv.WIPEONFORK, anonymousOnly],
]);

const madvise = answering(({ space }, [start, length, adviceArg]) => {
  const advice = ADVICE.get(asInt(adviceArg));
  if (advice === undefined || (start & PAGE_MASK) !== 0n) return 'EINVAL';
  const { end } = pagesOf(start, length);
  if (end < start || (length !== 0n && end === start)) return 'EINVAL';
  const { vmas, whole } = vmasIn(space, start, end);
  for (const vma of vmas) if (advice(space, vma, start, end) === 'EINVAL') return 'EINVAL';
  // A hole is told at the end, when everything else has been advised.
  return whole || end === start ? 0 : 'ENOMEM';
});

const msync = answering(({ space }, [start, length, flagsArg]) => {
  const flags = asUint(flagsArg);
  if ((flags & ~(Msync.ASYNC | Msync.INVALIDATE | Msync.SYNC)) !== 0) return 'EINVAL';
  if ((start & PAGE_MASK) !== 0n) return 'EINVAL';
  if ((flags & Msync.ASYNC) !== 0 && (flags & Msync.SYNC) !== 0) return 'EINVAL';
  const { end } = pagesOf(start, length);
  if (end < start) return 'ENOMEM';
  return end === start || vmasIn(space, start, end).whole ? 0 : 'ENOMEM';
});

/** Pages mincore answers for at a time. */
const MINCORE_PAGES = 4096n;

const mincore = answering(({ space }, [start, length, vector]) => {
  if ((start & PAGE_MASK) !== 0n) return 'EINVAL';
  if (!accessOk(start, length)) return 'ENOMEM';
  const pages = pageUp(length) / PAGE_SIZE;
  if (!accessOk(vector, pages)) return 'EFAULT';
  for (let done = 0n; done < pages; done += MINCORE_PAGES) {
    const count = pages - done < MINCORE_PAGES ? pages - done : MINCORE_PAGES;
    const from = start + done * PAGE_SIZE;
    if (!vmasIn(space, from, from + count * PAGE_SIZE).whole) return 'ENOMEM';
    const resident = new Uint8Array(Number(count)).fill(1);
    if (put(space, vector + done, resident) !== null) return 'EFAULT';
  }
  return 0;
});

const mlock = ({ space }: SyscallContext, start: bigint, length: bigint): Answer => {
  const range = pagesOf(pageDown(start), u64(length + (start & PAGE_MASK)));
  if (range.end < range.start) return 'EINVAL';
  return range.end === range.start || vmasIn(space, range.start, range.end).whole ? 0 : 'ENOMEM';
};

const MCL_ALL = 7; // MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT
const MCL_ONFAULT = 4;
const MLOCK_ONFAULT = 1;

const NO_SWAP = 'nothing is ever swapped out';

/** Advice about memory, and questions about it. */
export const MEMORY_ADVICE_ROWS: readonly SyscallRow[] = [
  partial('madvise', 'MADV_DONTNEED works; hints are not taken; no MADV_REMOVE', madvise),
  full('msync', msync),
  partial('mincore', 'every mapped page counts as resident', mincore),
  partial(
    'mlock',
    NO_SWAP,
    answering((ctx, [start, length]) => mlock(ctx, start, length)),
  ),
  partial(
    'mlock2',
    NO_SWAP,
    answering((ctx, [start, length, flags]) =>
      (asUint(flags) & ~MLOCK_ONFAULT) !== 0 ? 'EINVAL' : mlock(ctx, start, length),
    ),
  ),
  partial(
    'munlock',
    NO_SWAP,
    answering((ctx, [start, length]) => mlock(ctx, start, length)),
  ),
  partial(
    'mlockall',
    NO_SWAP,
    answering((_ctx, [flagsArg]) => {
      const flags = asUint(flagsArg);
      return flags === 0 || (flags & ~MCL_ALL) !== 0 || flags === MCL_ONFAULT ? 'EINVAL' : 0;
    }),
  ),
  partial('munlockall', NO_SWAP, always(0)),
];
