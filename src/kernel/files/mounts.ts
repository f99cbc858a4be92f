import type { ErrnoName } from '../../abi/errno.ts';
import type { OpenFile } from './open-file.ts';
import { type Attributes, type DirectoryEntry, type FileTree, failed, joinPath } from './tree.ts';

/** One line of the mount table. */
export interface Mount {
  /** Where in the guest's view: absolute, no link, no `.` or `..` on the way. */
  readonly path: string;
  readonly tree: FileTree;
  /** The part of the tree that is shown: `''` all of it, or the path of one directory or file. */
  readonly root: string;
  readonly writable: boolean;
  /** What making and removing names answers in a tree of the kernel's own. */
  readonly refuses?: Readonly<Record<'make' | 'remove', ErrnoName>>;
  /** Opens what is no regular file of the tree; undefined = an ordinary file after all. */
  special?(treePath: string): OpenFile | ErrnoName | undefined;
}

/** A name that exists, links not followed. */
export interface Place {
  /** The one guest path of it. */
  readonly path: string;
  /** Null for a directory that exists only because something is mounted below it. */
  readonly mount: Mount | null;
  readonly treePath: string;
  readonly attributes: Attributes;
}

const ROOT_DEVICE = { major: 0, minor: 1 };

const isBelow = (path: string, directory: string): boolean =>
  directory === '/' || path === directory || path.startsWith(`${directory}/`);

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';
export const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const emptyDirectory = (number: bigint): Attributes => ({
  kind: 'directory',
  mode: 0o755,
  size: 0n,
  device: ROOT_DEVICE,
  number,
  links: 2,
  uid: 0,
  gid: 0,
  represents: { major: 0, minor: 0 },
  accessed: 0n,
  modified: 0n,
  changed: 0n,
});

/** What the guest's `/` is made of. The latest mount on a path wins. */
export class MountTable {
  readonly #mounts: Mount[] = [];
  /** Directories that lead to mounts, with the inode numbers we give them. */
  readonly #stems = new Map<string, bigint>([['/', 1n]]);

  mounts(): readonly Mount[] {
    return this.#mounts;
  }

  add(mount: Mount): void {
    const same = this.#mounts.findIndex(({ path }) => path === mount.path);
    if (same >= 0) this.#mounts.splice(same, 1);
    this.#mounts.push(mount);
    for (let stem = parentOf(mount.path); !this.#stems.has(stem); stem = parentOf(stem))
      this.#stems.set(stem, BigInt(this.#stems.size + 1));
  }

  /** lstat of a canonical path. Preconditions: the directory it is in exists. */
  find(path: string): Place | ErrnoName {
    const mount = this.#covering(path);
    let error: ErrnoName = 'ENOENT';
    if (mount !== undefined) {
      const treePath = joinPath(mount.root, path.slice(mount.path.length).replace(/^\//, ''));
      const shown = treePath.endsWith('/') ? treePath.slice(0, -1) : treePath;
      const attributes = mount.tree.attributes(shown);
      if (!failed(attributes)) return { path, mount, treePath: shown, attributes };
      error = attributes;
    }
    const number = this.#stems.get(path);
    if (number === undefined) return error;
    return { path, mount: null, treePath: '', attributes: emptyDirectory(number) };
  }

  /** Names in a directory, without `.` and `..`, sorted. */
  list({ path, mount, treePath }: Place): readonly DirectoryEntry[] | ErrnoName {
    const listed = mount === null ? [] : mount.tree.list(treePath);
    if (failed(listed)) return listed;
    const names = new Map(listed.map((entry) => [entry.name, entry]));
    for (const below of [...this.#stems.keys(), ...this.#mounts.map((one) => one.path)]) {
      if (below === '/' || parentOf(below) !== path) continue;
      const place = this.find(below);
      if (failed(place)) continue;
      const { kind, number } = place.attributes;
      names.set(baseOf(below), { name: baseOf(below), kind, number });
    }
    return [...names.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether something is mounted exactly here or below: such a name cannot be removed (EBUSY). */
  isBusy(path: string): boolean {
    return this.#stems.has(path) || this.#mounts.some((mount) => mount.path === path);
  }

  #covering(path: string): Mount | undefined {
    let best: Mount | undefined;
    for (const mount of this.#mounts)
      if (isBelow(path, mount.path) && (best === undefined || mount.path.length > best.path.length))
        best = mount;
    return best;
  }
}
