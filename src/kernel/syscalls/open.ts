import { O } from '../../abi/fcntl.ts';
import { FileDescription } from '../files/file-table.ts';
import { openPath } from '../files/opening.ts';
import { failed } from '../files/tree.ts';
import { type Answer, answering } from './answer.ts';
import { CWD, startedPathAt } from './at.ts';
import { asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';

/** Flags that count with O_PATH (O_PATH_FLAGS); the others are dropped. */
const WITH_PATH = O.DIRECTORY | O.NOFOLLOW | O.PATH | O.CLOEXEC;
/** __O_TMPFILE without the O_DIRECTORY that comes with it. */
const TMPFILE = O.TMPFILE & ~O.DIRECTORY;
/** Flags that do not stay in F_GETFL's answer. */
const NOT_KEPT = O.CREAT | O.EXCL | O.NOCTTY | O.TRUNC | O.CLOEXEC;

/** build_open_flags: what cannot be asked for together. */
const impossible = (flags: number): 'EINVAL' | 'EOPNOTSUPP' | null => {
  if ((flags & TMPFILE) !== 0) {
    const writes = (flags & O.ACCMODE) !== O.RDONLY;
    return writes && (flags & O.DIRECTORY) !== 0 ? 'EOPNOTSUPP' : 'EINVAL';
  }
  const both = O.CREAT | O.DIRECTORY;
  return (flags & both) === both ? 'EINVAL' : null;
};

const openAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  address: bigint,
  flagsArg: number,
  modeArg: number,
): Answer => {
  // 64-bit programs get O_LARGEFILE whether they ask or not.
  const asked = flagsArg & O.PATH ? flagsArg & WITH_PATH : flagsArg | O.LARGEFILE;
  const refusal = impossible(asked);
  if (refusal === 'EINVAL') return refusal;
  const { files } = ctx;
  const started = startedPathAt(ctx, dirFd, address);
  if (failed(started)) return started;
  if (refusal !== null) return refusal;
  const mode = modeArg & 0o7777 & ~files.umask;
  const file = openPath(files.view, started.from, started.path, { flags: asked, mode });
  if (failed(file)) return file;
  const description = new FileDescription(file, asked & ~NOT_KEPT);
  const fd = files.install(description, 0, (asked & O.CLOEXEC) !== 0);
  if (fd === 'EMFILE') {
    file.opened?.();
    file.closed?.();
  }
  return fd;
};

/** Opening files by name. */
export const OPEN_ROWS: readonly SyscallRow[] = [
  partial(
    'open',
    'no O_TMPFILE; O_SYNC, O_DIRECT and O_ASYNC change nothing',
    answering((ctx, [path, flags, mode]) => openAt(ctx, CWD, path, asUint(flags), asUint(mode))),
  ),
  partial(
    'openat',
    'as open',
    answering((ctx, [dirFd, path, flags, mode]) =>
      openAt(ctx, dirFd, path, asUint(flags), asUint(mode)),
    ),
  ),
  full(
    'creat',
    answering((ctx, [path, mode]) =>
      openAt(ctx, CWD, path, O.CREAT | O.WRONLY | O.TRUNC, asUint(mode)),
    ),
  ),
];
