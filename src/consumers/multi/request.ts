/** What BPF_LINK_CREATE is asked for, and what is wrong with it (spec section 6.1). */
import type { ErrnoName } from '../../abi/errno.ts';
import { s64 } from '../../base/bytes.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Inode } from '../../memory/backing.ts';

/** An array in the caller's memory: null = a NULL pointer; what lies past its end cannot be read. */
export type UserArray = readonly bigint[] | null;

/** The attributes of a uprobe_multi link, named as in bpf(2). */
export interface MultiRequest {
  /** Bits of {@link MultiFlag}. */
  readonly flags: number;
  /** null = a NULL pointer; undefined = a pointer that cannot be read. */
  readonly path: string | null | undefined;
  readonly offsets: UserArray;
  readonly refCtrOffsets: UserArray;
  readonly cookies: UserArray;
  readonly count: number;
  /** A thread group; 0 = all processes. */
  readonly pid: number;
}

export const MultiFlag = { Return: 1 } as const;

/** MAX_UPROBE_MULTI_CNT. */
export const MAX_COUNT = 1 << 20;
const PATH_MAX = 4096;

/** What a link asks of the machine around it. */
export interface MultiSurroundings {
  /** The file behind a path, symbolic links followed; EISDIR and EACCES = no regular file. */
  lookup(path: string): Inode | ErrnoName;
  /** Address space of a thread group. */
  process(pid: number): Mm | undefined;
}

/** One place of a link. */
export interface MultiSite {
  readonly path: string;
  readonly offset: bigint;
  /** File offset of the reference counter; 0 = none. */
  readonly refCtrOffset: bigint;
  /** The attach cookie, bpf_get_attach_cookie(); 0 = none. */
  readonly cookie: bigint;
}

/** A request that holds water. */
export interface CheckedRequest {
  readonly inode: Inode;
  readonly only: { readonly pid: number; readonly mm: Mm } | null;
  readonly sites: readonly MultiSite[];
}

/** The kernel's checks in the kernel's order, up to the first registration. */
export const checkRequest = (
  request: MultiRequest,
  surroundings: MultiSurroundings,
): CheckedRequest | ErrnoName => {
  const { flags, path, offsets, count, pid } = request;
  if ((flags & ~MultiFlag.Return) !== 0) return 'EINVAL';
  if (path === null || offsets === null || count === 0 || pid < 0) return 'EINVAL';
  if (count > MAX_COUNT) return 'E2BIG';
  if (path === undefined) return 'EFAULT';
  if (path.length >= PATH_MAX) return 'EINVAL';
  // No name at all leads to the working directory.
  if (path === '') return 'EBADF';
  const inode = surroundings.lookup(path);
  if (inode === 'EISDIR' || inode === 'EACCES') return 'EBADF';
  if (typeof inode === 'string') return inode;
  const mm = pid === 0 ? null : surroundings.process(pid);
  if (mm === undefined) return 'ESRCH';
  const sites = readSites(request, path, offsets);
  if (typeof sites === 'string') return sites;
  return { inode, only: mm === null ? null : { pid, mm }, sites };
};

const readSites = (
  { count, refCtrOffsets, cookies }: MultiRequest,
  path: string,
  offsets: readonly bigint[],
): readonly MultiSite[] | ErrnoName => {
  const sites: MultiSite[] = [];
  for (let i = 0; i < count; i++) {
    const offset = offsets[i];
    if (offset === undefined) return 'EFAULT';
    if (s64(offset) < 0n) return 'EINVAL';
    const refCtrOffset = refCtrOffsets === null ? 0n : refCtrOffsets[i];
    const cookie = cookies === null ? 0n : cookies[i];
    if (refCtrOffset === undefined || cookie === undefined) return 'EFAULT';
    sites.push({ path, offset, refCtrOffset, cookie });
  }
  return sites;
};
