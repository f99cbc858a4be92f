import type { ErrnoName } from '../../abi/errno.ts';
import { type MountTable, type Place, parentOf } from './mounts.ts';
import { NAME_MAX, nameToBytes, PATH_MAX } from './names.ts';
import { failed, joinPath } from './tree.ts';

/** Symbolic links one walk may follow (MAXSYMLINKS). */
const MAX_LINKS = 40;

/** Where a walk ended. */
export interface Walk {
  /** The directory of the last component. */
  readonly parent: Place;
  /** The last component: a name, or one of the three that are no names. */
  readonly name: string;
  readonly last: 'name' | 'dot' | 'dotdot' | 'root';
  /** Null when the directory has no such name. */
  readonly place: Place | null;
  /** The path ended in a slash: only a directory will do. */
  readonly wantsDirectory: boolean;
}

export interface WalkOptions {
  /** Follow a link in the last place too; default true. A trailing slash always does. */
  readonly follow?: boolean;
  /** Leave such a last name alone even if it is a link: it opens in a way of its own (`/proc/self/fd/1`). */
  readonly opensItself?: (place: Place) => boolean;
}

const componentsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

const tooLong = (name: string): boolean =>
  name.length > NAME_MAX || (3 * name.length > NAME_MAX && nameToBytes(name).length > NAME_MAX);

/**
 * path_lookup: walks a guest path, following links inside the guest's view only. The host is never
 * asked to interpret a path: it sees names whose parents we have looked at ourselves.
 *
 * @param from canonical directory where a relative path starts
 */
export const walk = (
  mounts: MountTable,
  from: string,
  path: string,
  options: WalkOptions = {},
): Walk | ErrnoName => {
  if (path === '') return 'ENOENT';
  if (path.length >= PATH_MAX || nameToBytes(path).length >= PATH_MAX) return 'ENAMETOOLONG';
  const start = mounts.find(path.startsWith('/') ? '/' : from);
  if (failed(start)) return start;
  return new Walker(mounts, options).go(start, componentsOf(path), path.endsWith('/'));
};

class Walker {
  readonly #mounts: MountTable;
  readonly #options: WalkOptions;
  #links = 0;

  constructor(mounts: MountTable, options: WalkOptions) {
    this.#mounts = mounts;
    this.#options = options;
  }

  go(start: Place, components: readonly string[], trailingSlash: boolean): Walk | ErrnoName {
    const todo = [...components].reverse();
    let wantsDirectory = trailingSlash;
    let here = start;
    let walked: Walk = { parent: start, name: '', last: 'root', place: start, wantsDirectory };
    for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
      const step = this.#step(here, name, wantsDirectory);
      if (failed(step)) return step;
      if (step.place === null) return todo.length === 0 ? step : 'ENOENT';
      const link = this.#linkAt(step.place, todo.length === 0 && !wantsDirectory);
      if (failed(link)) return link;
      walked = step;
      here = step.place;
      if (link === null) continue;
      wantsDirectory ||= todo.length === 0 && link.target.endsWith('/');
      todo.push(...componentsOf(link.target).reverse());
      const base = link.target.startsWith('/') ? this.#mounts.find('/') : step.parent;
      if (failed(base)) return base;
      here = base;
      walked = { parent: here, name: '', last: 'root', place: here, wantsDirectory };
    }
    const isDirectory = walked.place?.attributes.kind === 'directory';
    return wantsDirectory && !isDirectory ? 'ENOTDIR' : { ...walked, wantsDirectory };
  }

  #step(here: Place, name: string, wantsDirectory: boolean): Walk | ErrnoName {
    if (here.attributes.kind !== 'directory') return 'ENOTDIR';
    if (name === '.') return { parent: here, name, last: 'dot', place: here, wantsDirectory };
    if (name === '..') {
      const place = this.#mounts.find(parentOf(here.path));
      return failed(place) ? place : { parent: place, name, last: 'dotdot', place, wantsDirectory };
    }
    if (tooLong(name)) return 'ENAMETOOLONG';
    const place = this.#mounts.find(joinPath(here.path, name));
    if (failed(place) && place !== 'ENOENT') return place;
    return {
      parent: here,
      name,
      last: 'name',
      place: failed(place) ? null : place,
      wantsDirectory,
    };
  }

  /** Where the link at `place` leads; null when it is no link or has to be left alone. */
  #linkAt(place: Place, isLast: boolean): { readonly target: string } | ErrnoName | null {
    if (place.attributes.kind !== 'symlink' || place.mount === null) return null;
    if (isLast && (this.#options.follow === false || this.#options.opensItself?.(place) === true))
      return null;
    if (++this.#links > MAX_LINKS) return 'ELOOP';
    const link = place.mount.tree.readlink(place.treePath);
    if (failed(link)) return link;
    return link.target === '' ? 'ENOENT' : link.target.length >= PATH_MAX ? 'ENAMETOOLONG' : link;
  }
}
