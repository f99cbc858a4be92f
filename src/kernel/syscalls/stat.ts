import type { ErrnoName } from '../../abi/errno.ts';
import { Access, AT_FDCWD, AtFlag } from '../../abi/fcntl.ts';
import type { Place } from '../files/mounts.ts';
import { nameToBytes } from '../files/names.ts';
import { type Attributes, failed } from '../files/tree.ts';
import type { WalkOptions } from '../files/walk.ts';
import { type Answer, answering, pathAt } from './answer.ts';
import { CWD, placeAt, startOf } from './at.ts';
import { statImage, statxImage } from './stat-image.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { put } from './user.ts';

const attributesOf = (place: Place | ErrnoName): Attributes | ErrnoName =>
  failed(place) ? place : place.attributes;

const attributesOfFd = ({ files }: SyscallContext, fd: number): Attributes | ErrnoName =>
  files.get(fd)?.file.attributes() ?? 'EBADF';

const putStat = (ctx: SyscallContext, address: bigint, found: Attributes | ErrnoName): Answer =>
  failed(found) ? found : put(ctx.space, address, statImage(found));

const statBy = (options: WalkOptions) =>
  answering((ctx, [path, into]) =>
    putStat(ctx, into, attributesOf(placeAt(ctx, CWD, path, options))),
  );

const fstat = answering((ctx, [fd, into]) => putStat(ctx, into, attributesOfFd(ctx, asInt(fd))));

/** vfs_fstatat and friends: an empty (or null) path with AT_EMPTY_PATH means the descriptor itself. */
const attributesAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  pathAddress: bigint,
  flags: number,
): Attributes | ErrnoName => {
  const mayBeEmpty = (flags & AtFlag.EMPTY_PATH) !== 0;
  const path = mayBeEmpty && pathAddress === 0n ? { text: '' } : pathAt(ctx, pathAddress);
  if (failed(path)) return path;
  if (path.text === '' && mayBeEmpty) {
    const fd = asInt(dirFd);
    if (fd !== AT_FDCWD) return attributesOfFd(ctx, fd);
    return attributesOf(ctx.files.view.find('/', ctx.files.cwd));
  }
  const started = startOf(ctx, dirFd, path.text);
  if (failed(started)) return started;
  const follow = (flags & AtFlag.SYMLINK_NOFOLLOW) === 0;
  return attributesOf(ctx.files.view.find(started.from, started.path, { follow }));
};

const STAT_FLAGS = AtFlag.SYMLINK_NOFOLLOW | AtFlag.NO_AUTOMOUNT | AtFlag.EMPTY_PATH;
/** AT_STATX_FORCE_SYNC and AT_STATX_DONT_SYNC; both together are no request. */
const SYNC_TYPE = 0x6000;
const STATX_RESERVED = 0x80000000;

const newfstatat = answering((ctx, [dirFd, path, into, flagsArg]) => {
  const flags = asUint(flagsArg);
  if ((flags & ~STAT_FLAGS) !== 0) return 'EINVAL';
  return putStat(ctx, into, attributesAt(ctx, dirFd, path, flags));
});

const statx = answering((ctx, [dirFd, path, flagsArg, maskArg, into]) => {
  const flags = asUint(flagsArg);
  if ((asUint(maskArg) & STATX_RESERVED) !== 0) return 'EINVAL';
  if ((flags & ~(STAT_FLAGS | SYNC_TYPE)) !== 0 || (flags & SYNC_TYPE) === SYNC_TYPE)
    return 'EINVAL';
  const found = attributesAt(ctx, dirFd, path, flags);
  return failed(found) ? found : put(ctx.space, into, statxImage(found));
});

const RIGHTS = [
  [Access.R_OK, 'read'],
  [Access.W_OK, 'write'],
  [Access.X_OK, 'execute'],
] as const;

const accessAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  path: bigint,
  mode: number,
  flags: number,
): Answer => {
  if ((mode & ~7) !== 0) return 'EINVAL';
  const known = AtFlag.EACCESS | AtFlag.SYMLINK_NOFOLLOW | AtFlag.EMPTY_PATH;
  if ((flags & ~known) !== 0) return 'EINVAL';
  const follow = (flags & AtFlag.SYMLINK_NOFOLLOW) === 0;
  const place = placeAt(ctx, dirFd, path, { follow });
  if (failed(place)) return place;
  const asked = RIGHTS.filter(([bit]) => (mode & bit) !== 0);
  const refused = asked.map(([, right]) => ctx.files.view.permits(place, right));
  return refused.find((error) => error !== null) ?? null;
};

const readlinkAt = (
  ctx: SyscallContext,
  dirFd: bigint,
  path: bigint,
  into: bigint,
  sizeArg: bigint,
): Answer => {
  const size = asInt(sizeArg);
  if (size <= 0) return 'EINVAL';
  const place = placeAt(ctx, dirFd, path, { follow: false });
  if (failed(place)) return place;
  const link = place.mount?.tree.readlink(place.treePath) ?? 'EINVAL';
  if (failed(link)) return link;
  const target = nameToBytes(link.target).subarray(0, size);
  return put(ctx.space, into, target) ?? target.length;
};

const ACCESS_NOTE = 'a right that anybody has is enough: the guest has no user database';

/** Looking at files without opening them. */
export const STAT_ROWS: readonly SyscallRow[] = [
  full('stat', statBy({})),
  full('lstat', statBy({ follow: false })),
  full('fstat', fstat),
  full('newfstatat', newfstatat),
  partial('statx', 'the basic fields only', statx),
  partial(
    'access',
    ACCESS_NOTE,
    answering((ctx, [path, mode]) => accessAt(ctx, CWD, path, asUint(mode), 0)),
  ),
  partial(
    'faccessat',
    ACCESS_NOTE,
    answering((ctx, [dirFd, path, mode]) => accessAt(ctx, dirFd, path, asUint(mode), 0)),
  ),
  partial(
    'faccessat2',
    `${ACCESS_NOTE}; no empty path`,
    answering((ctx, [dirFd, path, mode, flags]) =>
      accessAt(ctx, dirFd, path, asUint(mode), asUint(flags)),
    ),
  ),
  full(
    'readlink',
    answering((ctx, [path, into, size]) => readlinkAt(ctx, CWD, path, into, size)),
  ),
  partial(
    'readlinkat',
    'no empty path',
    answering((ctx, [dirFd, path, into, size]) => readlinkAt(ctx, dirFd, path, into, size)),
  ),
];
