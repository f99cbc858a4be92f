import type { ErrnoName } from '../../abi/errno.ts';
import { MapFlag } from '../../abi/mman.ts';
import { PAGE_MASK, pageUp, u64 } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import { type MapRequest, TASK_SIZE } from '../../memory/address-space.ts';
import type { FileDescription } from '../files/file-table.ts';
import { MAX_FILE_SIZE } from '../files/regular-file.ts';
import { type Answer, answering, descriptor } from './answer.ts';
import { asInt, asUint, partial, type SyscallContext, type SyscallRow } from './table.ts';

/** Arguments of one mmap(2), widths applied. */
interface MmapCall {
  readonly ctx: SyscallContext;
  readonly address: bigint;
  readonly size: bigint;
  readonly prot: number;
  readonly flags: number;
  readonly offset: bigint;
  readonly file: FileDescription | null;
}

/** Flags every kernel since 2.6 takes (LEGACY_MAP_MASK) and those MAP_SHARED_VALIDATE checks besides. */
const KNOWN =
  MapFlag.TYPE |
  MapFlag.FIXED |
  MapFlag.ANONYMOUS |
  MapFlag.BIT32 |
  MapFlag.GROWSDOWN |
  MapFlag.DENYWRITE |
  MapFlag.EXECUTABLE |
  MapFlag.LOCKED |
  MapFlag.NORESERVE |
  MapFlag.POPULATE |
  MapFlag.NONBLOCK |
  MapFlag.STACK |
  MapFlag.HUGETLB;

/** MAP_32BIT searches here, upwards (find_start_end). */
const LOW_MAP_START = 0x4000_0000n;
const LOW_MAP_END = 0x8000_0000n;

const isFixed = (flags: number): boolean =>
  (flags & (MapFlag.FIXED | MapFlag.FIXED_NOREPLACE)) !== 0;

/** do_mmap up to the search for a place. */
const checkSize = ({ size, flags, address, offset }: MmapCall): ErrnoName | null => {
  if (size === 0n) return 'EINVAL';
  const pages = u64(pageUp(size));
  if (pages === 0n) return 'ENOMEM';
  if (offset + pages > 1n << 64n) return 'EOVERFLOW';
  if (pages > TASK_SIZE) return 'ENOMEM';
  if (!isFixed(flags)) return null;
  if (address > TASK_SIZE - pages) return 'ENOMEM';
  return (address & PAGE_MASK) !== 0n ? 'EINVAL' : null;
};

/** The part of do_mmap that looks at the kind of mapping, for anonymous memory. */
const checkAnonymous = ({ flags }: MmapCall): ErrnoName | null => {
  const type = flags & MapFlag.TYPE;
  if (type === MapFlag.PRIVATE) return null;
  return type === MapFlag.SHARED && (flags & MapFlag.GROWSDOWN) === 0 ? null : 'EINVAL';
};

/** The same for files. */
const checkFile = (
  call: MmapCall,
  { readable, writable, file }: FileDescription,
): ErrnoName | null => {
  const { flags, prot, offset, size } = call;
  if (offset + pageUp(size) > MAX_FILE_SIZE + PAGE_MASK) return 'EOVERFLOW';
  const type = flags & MapFlag.TYPE;
  const shared = type === MapFlag.SHARED || type === MapFlag.SHARED_VALIDATE;
  if (type === MapFlag.SHARED_VALIDATE && (flags & ~KNOWN) !== 0) return 'EOPNOTSUPP';
  if (!shared && type !== MapFlag.PRIVATE) return 'EINVAL';
  if (shared && (prot & Prot.Write) !== 0 && !writable) return 'EACCES';
  if (!readable) return 'EACCES';
  if (file.pages !== undefined) return (prot & Prot.Exec) === 0 ? null : 'EPERM';
  if (file.mapping === undefined) return 'ENODEV';
  if ((flags & MapFlag.GROWSDOWN) !== 0) return 'EINVAL';
  return null;
};

/** Kernels that have told their user of {@link NO_SHARED_WRITES}. */
const told = new WeakSet<object>();
const NO_SHARED_WRITES = 'mmap: a shared mapping of a file cannot be written to here (ENODEV)';

/** What lies behind the mapping; null = anonymous memory. */
const backingOf = ({ ctx, prot, flags, offset, file }: MmapCall) => {
  const mapping = file?.file.mapping?.() ?? 'zero';
  if (mapping === 'zero') return {};
  if ((flags & MapFlag.TYPE) !== MapFlag.PRIVATE && (prot & Prot.Write) !== 0) {
    if (!told.has(ctx.kernel)) ctx.kernel.log(NO_SHARED_WRITES);
    told.add(ctx.kernel);
    return 'ENODEV';
  }
  return { file: mapping, offset };
};

/** Pages that the file itself owns; undefined when there are none. */
const pagesOf = ({ ctx, prot, flags, offset, size, file }: MmapCall) =>
  file?.file.pages?.({
    task: ctx.task,
    size: pageUp(size),
    writable: (prot & Prot.Write) !== 0,
    shared: (flags & MapFlag.TYPE) !== MapFlag.PRIVATE,
    offset,
  });

const placementOf = ({ ctx, address, size, flags }: MmapCall): Partial<MapRequest> | 'ENOMEM' => {
  if ((flags & MapFlag.FIXED_NOREPLACE) !== 0) return { address, placement: 'only' };
  if ((flags & MapFlag.FIXED) !== 0) return { address, placement: 'replace' };
  if ((flags & MapFlag.BIT32) === 0) return address === 0n ? {} : { address };
  const low = ctx.space.findFreeAbove(pageUp(size), LOW_MAP_START, LOW_MAP_END);
  return low === undefined ? 'ENOMEM' : { address: low };
};

const map = (call: MmapCall): Answer => {
  const { ctx, file, prot, flags, size, address } = call;
  const error = checkSize(call);
  if (error !== null) return error;
  const occupied = ctx.space.findOrNext(address);
  if ((flags & MapFlag.FIXED_NOREPLACE) !== 0 && occupied && occupied.start < address + size)
    return 'EEXIST';
  const refusal = file === null ? checkAnonymous(call) : checkFile(call, file);
  if (refusal !== null) return refusal;
  const pages = pagesOf(call);
  if (typeof pages === 'string') return pages;
  const backing =
    pages === undefined ? backingOf(call) : { special: pages.special, mayExec: false };
  if (typeof backing === 'string') return backing;
  const placement = placementOf(call);
  if (typeof placement === 'string') return placement;
  const request = {
    ...placement,
    ...backing,
    size,
    prot: prot & (Prot.Read | Prot.Write | Prot.Exec),
  };
  const shared = (flags & MapFlag.TYPE) !== MapFlag.PRIVATE;
  const at = ctx.space.map({ ...request, shared, growsDown: (flags & MapFlag.GROWSDOWN) !== 0 });
  if (typeof at === 'bigint') pages?.mapped(at);
  return at;
};

const mmap = answering((ctx, [address, size, protArg, flagsArg, fd, offset]) => {
  const flags = asUint(flagsArg);
  if ((offset & PAGE_MASK) !== 0n) return 'EINVAL';
  const isFile = (flags & MapFlag.ANONYMOUS) === 0;
  const file = isFile ? descriptor(ctx, asInt(fd)) : null;
  if (file === undefined) return 'EBADF';
  // There is no huge page to be had.
  if ((flags & MapFlag.HUGETLB) !== 0) return isFile ? 'EINVAL' : 'ENOMEM';
  return map({ ctx, address, size, prot: asUint(protArg), flags, offset, file });
});

export const MMAP_ROWS: readonly SyscallRow[] = [
  partial(
    'mmap',
    'no huge pages; a shared mapping of a file cannot be written to (ENODEV); MAP_POPULATE and MAP_LOCKED change nothing',
    mmap,
  ),
];
