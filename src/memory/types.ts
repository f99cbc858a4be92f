import type { Inode, SpecialMapping } from './backing.ts';
import type { Vma } from './vma.ts';

/** Errors of this layer, by their Linux names; the kernel layer turns them into numbers. */
export type MemoryErrno = 'ENOMEM' | 'EINVAL' | 'EEXIST' | 'EPERM' | 'EACCES' | 'EFAULT' | 'EAGAIN';

/** What a fault comes to: access may be retried, or which signal code it deserves. */
export type FaultOutcome = 'resolved' | 'maperr' | 'accerr' | 'bus';

export interface MapRequest {
  /** Where: exactly there (`fixed`), or a hint, or absent for the top-down search below mmap base. */
  readonly address?: bigint;
  /** `replace` = MAP_FIXED, `only` = MAP_FIXED_NOREPLACE, `hint` (default) = take another place if occupied. */
  readonly placement?: 'replace' | 'only' | 'hint';
  /** Bytes; rounded up to pages. */
  readonly size: bigint;
  readonly prot: number;
  readonly shared?: boolean;
  readonly growsDown?: boolean;
  readonly file?: Inode;
  /** Page-aligned offset in `file`. */
  readonly offset?: bigint;
  readonly mayExec?: boolean;
  readonly special?: SpecialMapping;
  readonly label?: string;
}

/** mremap(2): `mayMove` = MREMAP_MAYMOVE, `fixed` = the address of MREMAP_FIXED. */
export interface RemapFlags {
  readonly mayMove: boolean;
  readonly fixed?: bigint;
}

/** What upper layers hear of; the kernel layer forwards it to its hooks. */
export interface AddressSpaceListener {
  /**
   * A new vma exists, or one came of splitting or merging: wherever Linux calls uprobe_mmap. A move
   * by mremap and a change of rights alone are silent.
   */
  mapped(vma: Vma): void;
  /** About to disappear: contents are still readable. */
  unmapping(start: bigint, end: bigint): void;
}

export interface AddressSpaceOptions {
  /** Top of the top-down mmap area; default as Linux with randomisation off and an 8 MiB stack: 0x7ffff7fff000. */
  readonly mmapBase?: bigint;
  /** RLIMIT_STACK in bytes; default 8 MiB. */
  readonly stackLimit?: bigint;
  /** Bytes that may be mapped in all (ENOMEM beyond); default 4 GiB. */
  readonly sizeLimit?: bigint;
}

/** Counters for `--stats`. */
export interface MemoryCounters {
  pagesPopulated: number;
  pagesCopied: number;
  faults: number;
}
