import type { ErrnoName } from '../../abi/errno.ts';
import { AT_FDCWD } from '../../abi/fcntl.ts';
import type { Place } from '../files/mounts.ts';
import { failed } from '../files/tree.ts';
import type { WalkOptions } from '../files/walk.ts';
import { pathAt } from './answer.ts';
import { asInt, type SyscallContext } from './table.ts';

/** AT_FDCWD as a system call argument. */
export const CWD = BigInt.asUintN(64, BigInt(AT_FDCWD));

/** A path with the directory it starts in. */
export interface StartedPath {
  readonly from: string;
  readonly path: string;
}

/** Where a path of the *at family starts. An absolute one needs no descriptor. */
export const startOf = (
  { files }: SyscallContext,
  dirFd: bigint,
  path: string,
): StartedPath | ErrnoName => {
  if (path.startsWith('/') || path === '') return { from: '/', path };
  const fd = asInt(dirFd);
  if (fd === AT_FDCWD) return { from: files.cwd, path };
  const description = files.get(fd);
  if (description === undefined) return 'EBADF';
  const { file } = description;
  return file.entries === undefined ? 'ENOTDIR' : { from: file.path, path };
};

/** The path at an address, with its start. */
export const startedPathAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  address: bigint,
): StartedPath | ErrnoName => {
  const path = pathAt(ctx, address);
  if (failed(path)) return path;
  return path.text === '' ? 'ENOENT' : startOf(ctx, dirFd, path.text);
};

/** The place a path leads to. */
export const placeAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  address: bigint,
  options?: WalkOptions,
): Place | ErrnoName => {
  const started = startedPathAt(ctx, dirFd, address);
  return failed(started) ? started : ctx.files.view.find(started.from, started.path, options);
};
