import type { ErrnoName } from '../../abi/errno.ts';
import type { FileView } from './file-view.ts';
import type { Place } from './mounts.ts';
import { type FileTimes, failed, joinPath, type TreeChanges } from './tree.ts';
import type { Walk } from './walk.ts';

/** A name in a directory that may be changed. */
interface Target {
  readonly changes: TreeChanges;
  readonly treePath: string;
  readonly path: string;
}

/** Why each last component that is no name cannot be made, removed or moved. */
type NoName = Readonly<Record<'dot' | 'dotdot' | 'root', ErrnoName>>;
const MAKE: NoName = { dot: 'EEXIST', dotdot: 'EEXIST', root: 'EEXIST' };
const UNLINK: NoName = { dot: 'EISDIR', dotdot: 'EISDIR', root: 'EISDIR' };
const RMDIR: NoName = { dot: 'EINVAL', dotdot: 'ENOTEMPTY', root: 'EBUSY' };
const RENAME: NoName = { dot: 'EBUSY', dotdot: 'EBUSY', root: 'EBUSY' };

const targetOf = (
  view: FileView,
  { parent, name }: Walk,
  what: 'make' | 'remove',
): Target | ErrnoName => {
  const refused = parent.mount?.refuses?.[what] ?? view.permits(parent, 'write');
  if (refused !== null) return refused;
  const changes = parent.mount?.tree.changes;
  if (changes === undefined) return 'EROFS';
  const path = joinPath(parent.path, name);
  return { changes, treePath: joinPath(parent.treePath, name), path };
};

const lookUp = (view: FileView, from: string, path: string, noName: NoName): Walk | ErrnoName => {
  const walked = view.walk(from, path.replace(/(?<=[^/])\/+$/, ''), { follow: false });
  if (failed(walked)) return walked;
  if (walked.last !== 'name') return noName[walked.last];
  return { ...walked, wantsDirectory: /[^/]\/+$/.test(path) };
};

/** mkdir(2). @param mode umask applied */
export const makeDirectory = (
  view: FileView,
  from: string,
  path: string,
  mode: number,
): ErrnoName | null => {
  const walked = lookUp(view, from, path, MAKE);
  if (failed(walked)) return walked;
  if (walked.place !== null) return 'EEXIST';
  const target = targetOf(view, walked, 'make');
  return failed(target) ? target : target.changes.makeDirectory(target.treePath, mode);
};

/** rmdir(2). */
export const removeDirectory = (view: FileView, from: string, path: string): ErrnoName | null => {
  const walked = lookUp(view, from, path, RMDIR);
  if (failed(walked)) return walked;
  if (walked.place === null) return 'ENOENT';
  const target = targetOf(view, walked, 'remove');
  if (failed(target)) return target;
  if (view.mounts.isBusy(target.path)) return 'EBUSY';
  return target.changes.removeDirectory(target.treePath);
};

/** unlink(2). */
export const unlink = (view: FileView, from: string, path: string): ErrnoName | null => {
  const walked = lookUp(view, from, path, UNLINK);
  if (failed(walked)) return walked;
  const { place } = walked;
  if (place === null) return 'ENOENT';
  const isDirectory = place.attributes.kind === 'directory';
  if (walked.wantsDirectory) return isDirectory ? 'EISDIR' : 'ENOTDIR';
  const target = targetOf(view, walked, 'remove');
  if (failed(target)) return target;
  if (isDirectory) return 'EISDIR';
  if (view.mounts.isBusy(target.path)) return 'EBUSY';
  const error = target.changes.removeFile(target.treePath);
  if (error === null) forget(view, place);
  return error;
};

/** rename(2). @param noReplace RENAME_NOREPLACE: EEXIST instead of replacing */
export const rename = (
  view: FileView,
  source: { readonly from: string; readonly path: string },
  goal: { readonly from: string; readonly path: string },
  noReplace = false,
): ErrnoName | null => {
  const old = lookUp(view, source.from, source.path, RENAME);
  if (failed(old)) return old;
  const next = lookUp(view, goal.from, goal.path, RENAME);
  if (failed(next)) return next;
  if (old.parent.mount !== next.parent.mount) return 'EXDEV';
  if (old.place === null) return 'ENOENT';
  if (noReplace && next.place !== null) return 'EEXIST';
  const isDirectory = old.place.attributes.kind === 'directory';
  if (!isDirectory && (old.wantsDirectory || next.wantsDirectory)) return 'ENOTDIR';
  const oldTarget = targetOf(view, old, 'remove');
  if (failed(oldTarget)) return oldTarget;
  const nextTarget = targetOf(view, next, 'make');
  if (failed(nextTarget)) return nextTarget;
  if (view.mounts.isBusy(oldTarget.path) || view.mounts.isBusy(nextTarget.path)) return 'EBUSY';
  const error = oldTarget.changes.rename(oldTarget.treePath, nextTarget.treePath);
  if (error !== null) return error;
  if (next.place !== null) forget(view, next.place);
  for (const inode of view.inodes) inode.renamed(oldTarget, nextTarget);
  return null;
};

/** What can be changed of a place without changing names. */
const changesOf = ({ mount }: Place): TreeChanges | ErrnoName => {
  if (mount?.refuses !== undefined) return 'EPERM';
  return (mount?.writable === true ? mount.tree.changes : undefined) ?? 'EROFS';
};

/** chmod(2). */
export const setMode = (place: Place, mode: number): ErrnoName | null => {
  const changes = changesOf(place);
  return failed(changes) ? changes : changes.setMode(place.treePath, mode);
};

/** utimensat(2). */
export const setTimes = (place: Place, times: FileTimes): ErrnoName | null => {
  const changes = changesOf(place);
  return failed(changes) ? changes : changes.setTimes(place.treePath, times);
};

/** chown(2) by somebody who may not give files away: what is there already may be set again. */
export const setOwner = (place: Place, uid: number, gid: number): ErrnoName | null => {
  const changes = changesOf(place);
  if (failed(changes)) return changes;
  const isKept = (wanted: number, now: number): boolean => wanted === -1 || wanted === now;
  const { attributes } = place;
  return isKept(uid, attributes.uid) && isKept(gid, attributes.gid) ? null : 'EPERM';
};

/** Its number may be given to another file. One of several names keeps the file as it is. */
const forget = (view: FileView, place: Place): void => {
  if (place.attributes.kind === 'file' && place.attributes.links <= 1) view.inodes.forget(place);
};
