import type { ErrnoName } from '../../abi/errno.ts';
import { O } from '../../abi/fcntl.ts';
import { DirectoryFile } from './directory-file.ts';
import type { FileView } from './file-view.ts';
import type { Place } from './mounts.ts';
import { ALWAYS_READY, type OpenFile } from './open-file.ts';
import { RegularFile } from './regular-file.ts';
import { failed, joinPath } from './tree.ts';
import type { Walk } from './walk.ts';

/** What open(2) is asked for. */
export interface OpenRequest {
  /** O_* bits; the caller has refused impossible ones. */
  readonly flags: number;
  /** Permission bits of a new file, umask applied. */
  readonly mode: number;
}

/**
 * open(2) without descriptors.
 *
 * @param from canonical directory where a relative path starts
 */
export const openPath = (
  view: FileView,
  from: string,
  path: string,
  request: OpenRequest,
): OpenFile | ErrnoName => {
  const { flags } = request;
  const creates = (flags & O.CREAT) !== 0;
  const exclusive = creates && (flags & O.EXCL) !== 0;
  const walked = view.walk(from, path, {
    follow: !exclusive && (flags & O.NOFOLLOW) === 0,
    opensItself: ({ mount, treePath }) => mount?.special?.(treePath) !== undefined,
  });
  if (failed(walked)) return walked;
  const { place } = walked;
  if (!creates) return place === null ? 'ENOENT' : openPlace(view, place, flags);
  if (walked.last !== 'name' || walked.wantsDirectory) return 'EISDIR';
  if (place === null) return create(view, walked, request);
  if (exclusive) return 'EEXIST';
  return place.attributes.kind === 'directory' ? 'EISDIR' : openPlace(view, place, flags);
};

const create = (
  view: FileView,
  { parent, name }: Walk,
  { flags, mode }: OpenRequest,
): OpenFile | ErrnoName => {
  const refused = parent.mount?.refuses?.make ?? view.permits(parent, 'write');
  if (refused !== null) return refused;
  const error = parent.mount?.tree.changes?.createFile(joinPath(parent.treePath, name), mode);
  if (error !== undefined && error !== null) return error;
  const place = view.mounts.find(joinPath(parent.path, name));
  // The creator may use the file as it asked to, whatever the mode of the new file says.
  return failed(place) ? place : openRegular(view, place, flags & ~O.TRUNC);
};

const openPlace = (view: FileView, place: Place, flags: number): OpenFile | ErrnoName => {
  const { kind } = place.attributes;
  if ((flags & O.DIRECTORY) !== 0 && kind !== 'directory') return 'ENOTDIR';
  if ((flags & O.PATH) !== 0)
    return kind === 'directory' ? new DirectoryFile(view.mounts, place) : pathFile(place);
  const special = place.mount?.special?.(place.treePath);
  if (kind === 'symlink') return special ?? 'ELOOP';
  const access = flags & O.ACCMODE;
  const writes = access !== O.RDONLY || (flags & O.TRUNC) !== 0;
  if (kind === 'directory') return writes ? 'EISDIR' : new DirectoryFile(view.mounts, place);
  const refused =
    (access !== O.WRONLY ? view.permits(place, 'read') : null) ??
    (writes ? view.permits(place, 'write') : null);
  if (refused !== null) return refused;
  if (special !== undefined) return (flags & O.TRUNC) !== 0 ? truncated(special) : special;
  return kind === 'file' ? openRegular(view, place, flags) : REFUSED_KINDS[kind];
};

const truncated = (file: OpenFile | ErrnoName): OpenFile | ErrnoName =>
  failed(file) ? file : (file.truncate?.() ?? file);

const openRegular = (view: FileView, place: Place, flags: number): OpenFile | ErrnoName => {
  const access = flags & O.ACCMODE;
  const inode = view.inodes.at(place);
  const error =
    (access !== O.WRONLY ? inode.prepare('read') : null) ??
    (access !== O.RDONLY ? inode.prepare('write') : null) ??
    ((flags & O.TRUNC) !== 0 ? inode.resize(0n) : null);
  return error ?? new RegularFile(inode);
};

/** Device nodes of a tree are not ours to drive (as on a `nodev` mount), FIFOs have no other end. */
const REFUSED_KINDS: Readonly<
  Record<'fifo' | 'socket' | 'char-device' | 'block-device', ErrnoName>
> = { fifo: 'ENXIO', socket: 'ENXIO', 'char-device': 'EACCES', 'block-device': 'EACCES' };

/** What O_PATH gives for anything but a directory: a name that can only be looked at. */
const pathFile = ({ path, attributes }: Place): OpenFile => ({
  path,
  seekable: false,
  attributes: () => attributes,
  read: () => 'EBADF',
  write: () => 'EBADF',
  readiness: () => ALWAYS_READY,
  size: () => 0n,
});
