import type { ErrnoName } from '../../abi/errno.ts';
import { AtFlag } from '../../abi/fcntl.ts';
import { setMode, setOwner } from '../files/changing.ts';
import type { Place } from '../files/mounts.ts';
import { failed } from '../files/tree.ts';
import { type Answer, always, answering, descriptor, pathAt } from './answer.ts';
import { CWD, placeAt } from './at.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';

/** The place a descriptor was opened at. */
export const placeOfFd = (ctx: SyscallContext, fd: number): Place | ErrnoName => {
  const description = descriptor(ctx, fd);
  return description === undefined ? 'EBADF' : ctx.files.view.find('/', description.file.path);
};

const chmodAt = (ctx: SyscallContext, dirFd: bigint, path: bigint, mode: bigint): Answer => {
  const place = placeAt(ctx, dirFd, path);
  return failed(place) ? place : setMode(place, asUint(mode) & 0o7777);
};

const fchmod = answering((ctx, [fd, mode]) => {
  const place = placeOfFd(ctx, asInt(fd));
  return failed(place) ? place : setMode(place, asUint(mode) & 0o7777);
});

interface Owner {
  readonly uid: bigint;
  readonly gid: bigint;
}

const chown = (place: Place | ErrnoName, { uid, gid }: Owner): Answer =>
  failed(place) ? place : setOwner(place, asInt(uid), asInt(gid));

const chownAt = answering((ctx, [dirFd, path, uid, gid, flagsArg]) => {
  const flags = asUint(flagsArg);
  if ((flags & ~(AtFlag.SYMLINK_NOFOLLOW | AtFlag.EMPTY_PATH)) !== 0) return 'EINVAL';
  const text = pathAt(ctx, path);
  const isEmpty = !failed(text) && text.text === '' && (flags & AtFlag.EMPTY_PATH) !== 0;
  if (isEmpty) return chown(placeOfFd(ctx, asInt(dirFd)), { uid, gid });
  const follow = (flags & AtFlag.SYMLINK_NOFOLLOW) === 0;
  return chown(placeAt(ctx, dirFd, path, { follow }), { uid, gid });
});

const NOT_GIVEN = 'files are not given away: only the owner they have may be set';
const NO_XATTR = 'answers EOPNOTSUPP, as a file system without extended attributes';

/** Modes, owners and extended attributes. */
export const FILE_ATTRIBUTE_ROWS: readonly SyscallRow[] = [
  full(
    'chmod',
    answering((ctx, [path, mode]) => chmodAt(ctx, CWD, path, mode)),
  ),
  full(
    'fchmodat',
    answering((ctx, [dirFd, path, mode]) => chmodAt(ctx, dirFd, path, mode)),
  ),
  full('fchmod', fchmod),
  partial(
    'chown',
    NOT_GIVEN,
    answering((ctx, [path, uid, gid]) => chown(placeAt(ctx, CWD, path), { uid, gid })),
  ),
  partial(
    'lchown',
    NOT_GIVEN,
    answering((ctx, [path, uid, gid]) =>
      chown(placeAt(ctx, CWD, path, { follow: false }), { uid, gid }),
    ),
  ),
  partial(
    'fchown',
    NOT_GIVEN,
    answering((ctx, [fd, uid, gid]) => chown(placeOfFd(ctx, asInt(fd)), { uid, gid })),
  ),
  partial('fchownat', NOT_GIVEN, chownAt),
  partial('getxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('lgetxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('fgetxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('setxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('lsetxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('fsetxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('listxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('llistxattr', NO_XATTR, always('EOPNOTSUPP')),
  partial('flistxattr', NO_XATTR, always('EOPNOTSUPP')),
];
