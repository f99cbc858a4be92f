import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode, SpecialMapping } from '../../memory/backing.ts';
import type { Task } from '../task.ts';
import type { Terminal } from './terminal.ts';
import type { Attributes, DirectoryEntry } from './tree.ts';

/**
 * The call has to wait: for the host (bytes on stdin), or for another task of the guest (the other
 * end of a pipe).
 */
export interface Wait {
  readonly wait: 'host' | 'peer';
}
export const WAIT_FOR_HOST: Wait = { wait: 'host' };
export const WAIT_FOR_PEER: Wait = { wait: 'peer' };

/** Bytes moved (0 from a read = end of file), an errno, or a wait. */
export type Transfer = number | ErrnoName | Wait;

/** What poll(2) would say of a file now. */
export interface Readiness {
  readonly readable: boolean;
  readonly writable: boolean;
  readonly hangup?: boolean;
  readonly error?: boolean;
}
export const ALWAYS_READY: Readiness = { readable: true, writable: true };

/** mmap(2) of a file that has pages of its own. */
export interface PagesRequest {
  readonly task: Task;
  /** Bytes, whole pages. */
  readonly size: bigint;
  readonly writable: boolean;
  readonly shared: boolean;
  /** Bytes from the first of the file's pages. */
  readonly offset: bigint;
}

/** Pages that a file maps: empty at first, filled by their owner in `mapped`. */
export interface FilePages {
  readonly special: SpecialMapping;
  mapped(address: bigint): void;
}

/**
 * What an open file can do (struct file_operations): one class per kind of file. Who may read or
 * write is checked by the caller, from the flags of the description.
 */
export interface OpenFile {
  /** Name in the guest's view, or `pipe:[N]` and the like; what `/proc/self/fd` shows. */
  readonly path: string;
  /** Has a position; all others answer ESPIPE to lseek, pread and pwrite. */
  readonly seekable: boolean;
  /** Writes go nowhere: the bytes need not even be readable (/dev/null). */
  readonly discards?: true;
  attributes(): Attributes;
  /** @param position ignored by files without one */
  read(position: bigint, into: Uint8Array): Transfer;
  write(position: bigint, bytes: Uint8Array): Transfer;
  readiness(): Readiness;
  /** Where SEEK_END leads. */
  size(): bigint;
  /** What mmap(2) maps: a file, or `zero` for anonymous memory. Absent: ENODEV. */
  mapping?(): Inode | 'zero';
  /** mmap(2) of a file that owns its pages, instead of `mapping`; never executable. */
  pages?(request: PagesRequest): FilePages | ErrnoName;
  /** ioctl(2), but for what every descriptor answers. Absent: ENOTTY. */
  ioctl?(task: Task, request: number, arg: bigint): number | ErrnoName;
  /** open(2) with O_TRUNC: files of the kernel's own take it for a command. Absent: nothing happens. */
  truncate?(): ErrnoName | null;
  /** ftruncate(2). Absent: EINVAL. */
  resize?(size: bigint): ErrnoName | null;
  /**
   * Entries with `.` and `..`; directories only. They are those of the last call with `afresh`, so
   * that a reader in the middle of a directory is not confused by changes.
   */
  entries?(afresh: boolean): readonly DirectoryEntry[] | ErrnoName;
  /** Set on a terminal: what ioctl talks to. */
  readonly terminal?: Terminal;
  /** Bytes a read would give at once (FIONREAD). Absent: ENOTTY. */
  available?(): number;
  /** One more / one less open file description refers to it. */
  opened?(): void;
  closed?(): void;
  capture?(): unknown;
  restore?(state: unknown): void;
}
