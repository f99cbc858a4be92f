import { Mremap, ProtFlag } from '../../abi/mman.ts';
import { PAGE_MASK, PAGE_SIZE, pageUp } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import { type AddressSpace, TASK_SIZE } from '../../memory/address-space.ts';
import type { Vma } from '../../memory/vma.ts';
import { type Answer, answering } from './answer.ts';
import { pagesOf, vmasIn } from './ranges.ts';
import { asUint, full, partial, type SyscallRow } from './table.ts';

const munmap = answering(({ space }, [start, size]) => space.unmap(start, size));

const mprotect = answering(({ space }, [startArg, size, protArg]) => {
  const growth = asUint(protArg) & (ProtFlag.GROWSDOWN | ProtFlag.GROWSUP);
  const prot = asUint(protArg) & ~(ProtFlag.GROWSDOWN | ProtFlag.GROWSUP);
  if (growth === (ProtFlag.GROWSDOWN | ProtFlag.GROWSUP)) return 'EINVAL';
  if ((startArg & PAGE_MASK) !== 0n) return 'EINVAL';
  if (size === 0n) return 0;
  const { end } = pagesOf(startArg, size);
  if (end <= startArg) return 'ENOMEM';
  if ((prot & ~(Prot.Read | Prot.Write | Prot.Exec | ProtFlag.SEM)) !== 0) return 'EINVAL';
  const first = space.findOrNext(startArg);
  if (first === undefined) return 'ENOMEM';
  let start = startArg;
  if ((growth & ProtFlag.GROWSDOWN) !== 0) {
    if (first.start >= end) return 'ENOMEM';
    if (!first.growsDown) return 'EINVAL';
    start = first.start;
  } else if (growth !== 0) return 'EINVAL'; // nothing grows up on x86
  const rights = prot & ~ProtFlag.SEM;
  // A shared mapping of a file is one that may not write: mmap gives no other.
  const refusesWrite = ({ shared, file }: Vma): boolean => shared && file !== null;
  if ((rights & Prot.Write) !== 0 && vmasIn(space, start, end).vmas.some(refusesWrite))
    return 'EACCES';
  return space.protect(start, end - start, rights);
});

/** stack_guard_gap: what growing memory keeps free below itself. */
const STACK_GUARD = 256n * PAGE_SIZE;

const brk = answering(({ mm, space }, [wanted]): Answer => {
  if (wanted < mm.brkStart) return mm.brk;
  const from = pageUp(mm.brk);
  const to = pageUp(wanted);
  if (to < from && space.unmap(to, from - to) !== null) return mm.brk;
  if (to > from && !growHeap(space, from, to)) return mm.brk;
  mm.brk = wanted;
  return wanted;
});

const growHeap = (space: AddressSpace, from: bigint, to: bigint): boolean => {
  const next = space.findOrNext(from);
  const limit = next === undefined ? TASK_SIZE : next.start - (next.growsDown ? STACK_GUARD : 0n);
  if (to + PAGE_SIZE > limit) return false;
  const prot = Prot.Read | Prot.Write;
  const size = to - from;
  const at = space.map({ address: from, placement: 'only', size, prot, label: '[heap]' });
  return typeof at === 'bigint';
};

const mremap = answering(({ space }, [start, oldSize, newSize, flagsArg, fixed]) => {
  const flags = asUint(flagsArg);
  // MREMAP_DONTUNMAP is answered like a kernel that does not know it.
  if ((flags & ~(Mremap.MAYMOVE | Mremap.FIXED)) !== 0) return 'EINVAL';
  return space.remap(start, oldSize, newSize, {
    mayMove: (flags & Mremap.MAYMOVE) !== 0,
    ...((flags & Mremap.FIXED) !== 0 && { fixed }),
  });
});

/** Address spaces. */
export const MEMORY_ROWS: readonly SyscallRow[] = [
  full('munmap', munmap),
  full('mprotect', mprotect),
  partial('brk', 'RLIMIT_DATA does not count', brk),
  partial(
    'mremap',
    'no MREMAP_DONTUNMAP; an old size of 0 makes no second mapping; pages of perf stay where they are',
    mremap,
  ),
];
