import type { Access, Engine } from '../cpu/engine.ts';
import type { Inode, SpecialMapping } from './backing.ts';
import type { Vma } from './vma.ts';

/** First address user space cannot have (4-level paging): TASK_SIZE of x86-64. */
export const TASK_SIZE = 0x7ffffffff000n;

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

/** What upper layers hear of; the kernel layer forwards it to its hooks. */
export interface AddressSpaceListener {
  /** A new vma exists, or an old one was merged/changed by mprotect so that it must be looked at again. */
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

/**
 * One process's memory: the vmas, and which of their pages the engine already holds. Pages are
 * populated on first touch, in runs, because an engine is slow with thousands of regions.
 */
export declare class AddressSpace {
  readonly engine: Engine;
  readonly counters: MemoryCounters;
  listener: AddressSpaceListener | null;
  /** Changes whenever a vma appears, goes or changes; lets callers cache look-ups. */
  readonly generation: number;

  constructor(engine: Engine, options?: AddressSpaceOptions);

  /** In address order. */
  vmas(): readonly Vma[];
  /** The vma that contains `address`. */
  find(address: bigint): Vma | undefined;
  /** The vma that contains `address`, or the next one above it (find_vma). */
  findOrNext(address: bigint): Vma | undefined;

  /** mmap without the syscall's argument checks. Returns the address or an errno name. */
  map(request: MapRequest): bigint | MemoryErrno;
  unmap(start: bigint, size: bigint): MemoryErrno | null;
  protect(start: bigint, size: bigint, prot: number): MemoryErrno | null;
  /** mremap(2); special mappings answer EPERM. */
  remap(
    start: bigint,
    oldSize: bigint,
    newSize: bigint,
    flags: { readonly mayMove: boolean; readonly fixed?: bigint },
  ): bigint | MemoryErrno;

  /** Lowest free run of `size` bytes inside [low, high), guard gaps respected. */
  findFreeAbove(size: bigint, low: bigint, high: bigint): bigint | undefined;
  /** Highest free run of `size` bytes inside [low, high), guard gaps respected. */
  findFreeBelow(size: bigint, low: bigint, high: bigint): bigint | undefined;

  /** Handles a page fault: populates pages, grows the stack, or says which signal code it deserves. */
  resolve(address: bigint, access: Access): FaultOutcome;

  /**
   * copy_from_user: reads as the guest would, populating pages. Returns the number of bytes read
   * before the first unreadable one (`into.length` when all went well).
   */
  read(address: bigint, into: Uint8Array): number;
  /** copy_to_user: write rights respected. Returns bytes written before the first failure. */
  write(address: bigint, bytes: Uint8Array): number;
  /** 8 bytes little-endian, or undefined when unreadable. */
  readU64(address: bigint): bigint | undefined;
  writeU64(address: bigint, value: bigint): boolean;
  /** Bytes before the NUL; undefined when unreadable before a NUL or longer than `max`. */
  readString(address: bigint, max: number): Uint8Array | undefined;

  /** access_remote_vm with FOLL_FORCE for reading: rights ignored, vmas respected. */
  readForced(address: bigint, into: Uint8Array): number;
  /**
   * The one writer of program text: rights ignored, the page becomes a private (anonymous) copy.
   * Preconditions: inside one page of one private vma. EFAULT when nothing is mapped there.
   */
  writeText(address: bigint, bytes: Uint8Array): MemoryErrno | null;
  /** The page at `address` is a private copy, no longer the file's page. */
  isAnonymous(address: bigint): boolean;
  /** Drops a private copy that equals the file's page again; returns whether it did. */
  dropIfPristine(address: bigint): boolean;

  capture(): unknown;
  restore(state: unknown): void;
}
