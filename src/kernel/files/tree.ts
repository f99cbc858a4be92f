import type { ErrnoName } from '../../abi/errno.ts';

/** What a name stands for; the order of nothing, the words of stat(2). */
export type FileKind =
  | 'file'
  | 'directory'
  | 'symlink'
  | 'fifo'
  | 'socket'
  | 'char-device'
  | 'block-device';

export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

/** What stat(2) tells. Times are nanoseconds since 1970. */
export interface Attributes {
  readonly kind: FileKind;
  /** Permission bits, 0o7777. */
  readonly mode: number;
  readonly size: bigint;
  /** Device and inode number: within one domain they name one file. */
  readonly device: DeviceNumber;
  readonly number: bigint;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  /** What a device node stands for; 0:0 for everything else. */
  readonly represents: DeviceNumber;
  readonly accessed: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
  readonly number: bigint;
}

/** An open regular file of a tree. */
export interface TreeFile {
  size(): bigint;
  /** Copies bytes from `offset` on; how many there were (fewer only at end of file). */
  read(offset: bigint, into: Uint8Array): number | ErrnoName;
  /** How many bytes were written, at least one unless `bytes` is empty. */
  write(offset: bigint, bytes: Uint8Array): number | ErrnoName;
  resize(size: bigint): ErrnoName | null;
  close(): void;
}

/** New times of a file in nanoseconds since 1970; an absent one stays. */
export interface FileTimes {
  readonly accessed?: bigint;
  readonly modified?: bigint;
}

/** What a writable tree can do besides. Every name is new or final: nothing here follows a link. */
export interface TreeChanges {
  /** Makes an empty regular file; EEXIST when there is anything of that name. */
  createFile(path: string, mode: number): ErrnoName | null;
  makeDirectory(path: string, mode: number): ErrnoName | null;
  /** Anything but a directory. */
  removeFile(path: string): ErrnoName | null;
  removeDirectory(path: string): ErrnoName | null;
  /** rename(2): replaces `to` if the kinds allow it. */
  rename(from: string, to: string): ErrnoName | null;
  setMode(path: string, mode: number): ErrnoName | null;
  setTimes(path: string, times: FileTimes): ErrnoName | null;
}

/**
 * A tree of files handed in by the host. The guest never reaches beyond it, because the kernel layer
 * walks paths itself: a tree is only ever asked about names it must not interpret.
 *
 * A path is `''` for the root or components joined by `/`, none of them empty, `.` or `..`, no NUL;
 * names are as in `names.ts`. An implementation must refuse (ELOOP) a path that leads *through* a
 * symbolic link, and must never open anything but a regular file. All calls are synchronous; an
 * errno name is the answer to what went wrong.
 */
export interface FileTree {
  /** Trees with the same domain number their files alike: (device, number) is one file in all of them. */
  readonly domain: object;
  /** Absent: nothing in the tree can be changed. */
  readonly changes?: TreeChanges;
  /** lstat: a link answers for itself. */
  attributes(path: string): Attributes | ErrnoName;
  readlink(path: string): { readonly target: string } | ErrnoName;
  list(path: string): readonly DirectoryEntry[] | ErrnoName;
  /** Opens a regular file. `write` is only asked of trees with `changes`. */
  open(path: string, access: 'read' | 'write'): TreeFile | ErrnoName;
  /** Present on trees whose contents live in memory. */
  capture?(): unknown;
  restore?(state: unknown): void;
}

/** Whether an answer is an errno name. */
export const failed = <T>(answer: T | ErrnoName): answer is ErrnoName => typeof answer === 'string';

/** Joins a tree path or guest path with one more name. */
export const joinPath = (directory: string, name: string): string =>
  directory === '' ? name : directory.endsWith('/') ? directory + name : `${directory}/${name}`;
