import type { ErrnoName } from '../../abi/errno.ts';
import { AtFlag, O } from '../../abi/fcntl.ts';
import { s64 } from '../../base/bytes.ts';
import { makeDirectory, removeDirectory, rename, unlink } from '../files/changing.ts';
import type { FileView } from '../files/file-view.ts';
import { openPath } from '../files/opening.ts';
import { failed } from '../files/tree.ts';
import { type Answer, always, answering } from './answer.ts';
import { CWD, startedPathAt } from './at.ts';
import { asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';

/** Runs a change on the path at an address. */
const onPath = (
  ctx: SyscallContext,
  dirFd: bigint,
  address: bigint,
  change: (view: FileView, from: string, path: string) => Answer,
): Answer => {
  const started = startedPathAt(ctx, dirFd, address);
  return failed(started) ? started : change(ctx.files.view, started.from, started.path);
};

const mkdirAt = (ctx: SyscallContext, dirFd: bigint, path: bigint, modeArg: bigint): Answer => {
  const mode = asUint(modeArg) & 0o1777 & ~ctx.files.umask;
  return onPath(ctx, dirFd, path, (view, from, text) => makeDirectory(view, from, text, mode));
};

const unlinkAt = (ctx: SyscallContext, dirFd: bigint, path: bigint, flags: number): Answer => {
  if ((flags & ~AtFlag.REMOVEDIR) !== 0) return 'EINVAL';
  return onPath(ctx, dirFd, path, flags ? removeDirectory : unlink);
};

const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const RENAME_WHITEOUT = 4;

const renameAt = (
  ctx: SyscallContext,
  [oldFd, oldPath]: readonly [bigint, bigint],
  [newFd, newPath]: readonly [bigint, bigint],
  flags: number,
): Answer => {
  if ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) !== 0) return 'EINVAL';
  if ((flags & RENAME_EXCHANGE) !== 0 && flags !== RENAME_EXCHANGE) return 'EINVAL';
  const source = startedPathAt(ctx, oldFd, oldPath);
  if (failed(source)) return source;
  const goal = startedPathAt(ctx, newFd, newPath);
  if (failed(goal)) return goal;
  // What a file system without them answers.
  if ((flags & ~RENAME_NOREPLACE) !== 0) return 'EINVAL';
  return rename(ctx.files.view, source, goal, flags === RENAME_NOREPLACE);
};

const truncate = answering((ctx, [path, lengthArg]) => {
  const size = s64(lengthArg);
  if (size < 0n) return 'EINVAL';
  return onPath(ctx, CWD, path, (view, from, text): ErrnoName | null => {
    const file = openPath(view, from, text, { flags: O.WRONLY, mode: 0 });
    if (failed(file)) return file;
    file.opened?.();
    const error = file.resize === undefined ? 'EINVAL' : file.resize(size);
    file.closed?.();
    return error;
  });
});

const umask = answering(({ files }, [mask]) => {
  const old = files.umask;
  files.umask = asUint(mask) & 0o777;
  return old;
});

/** Links and nodes: a tree of the host makes none, as a file system that has no such thing. */
const NO_LINKS = 'answers EPERM: mounts hold files and directories only';

/** Changing what directories hold; EROFS outside of writable mounts. */
export const CHANGE_ROWS: readonly SyscallRow[] = [
  full(
    'mkdir',
    answering((ctx, [path, mode]) => mkdirAt(ctx, CWD, path, mode)),
  ),
  full(
    'mkdirat',
    answering((ctx, [dirFd, path, mode]) => mkdirAt(ctx, dirFd, path, mode)),
  ),
  full(
    'rmdir',
    answering((ctx, [path]) => unlinkAt(ctx, CWD, path, AtFlag.REMOVEDIR)),
  ),
  full(
    'unlink',
    answering((ctx, [path]) => unlinkAt(ctx, CWD, path, 0)),
  ),
  full(
    'unlinkat',
    answering((ctx, [dirFd, path, flags]) => unlinkAt(ctx, dirFd, path, asUint(flags))),
  ),
  full(
    'rename',
    answering((ctx, [from, to]) => renameAt(ctx, [CWD, from], [CWD, to], 0)),
  ),
  full(
    'renameat',
    answering((ctx, [fromFd, from, toFd, to]) => renameAt(ctx, [fromFd, from], [toFd, to], 0)),
  ),
  partial(
    'renameat2',
    'RENAME_NOREPLACE only',
    answering((ctx, [fromFd, from, toFd, to, flags]) =>
      renameAt(ctx, [fromFd, from], [toFd, to], asUint(flags)),
    ),
  ),
  full('truncate', truncate),
  full('umask', umask),
  partial('link', NO_LINKS, always('EPERM')),
  partial('linkat', NO_LINKS, always('EPERM')),
  partial('symlink', NO_LINKS, always('EPERM')),
  partial('symlinkat', NO_LINKS, always('EPERM')),
  partial('mknod', NO_LINKS, always('EPERM')),
  partial('mknodat', NO_LINKS, always('EPERM')),
];
