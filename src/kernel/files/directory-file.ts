import type { ErrnoName } from '../../abi/errno.ts';
import { type MountTable, type Place, parentOf } from './mounts.ts';
import { ALWAYS_READY, type OpenFile, type Readiness } from './open-file.ts';
import { type Attributes, type DirectoryEntry, failed } from './tree.ts';

/** An open directory. The position of a description counts entries. */
export class DirectoryFile implements OpenFile {
  readonly seekable = true;
  readonly path: string;
  readonly #mounts: MountTable;
  readonly #place: Place;
  #entries: readonly DirectoryEntry[] | null = null;

  constructor(mounts: MountTable, place: Place) {
    this.path = place.path;
    this.#mounts = mounts;
    this.#place = place;
  }

  attributes(): Attributes {
    const now = this.#mounts.find(this.path);
    return failed(now) ? { ...this.#place.attributes, links: 0 } : now.attributes;
  }

  read(): ErrnoName {
    return 'EISDIR';
  }

  write(): ErrnoName {
    return 'EISDIR';
  }

  readiness(): Readiness {
    return ALWAYS_READY;
  }

  size(): bigint {
    return 0n;
  }

  entries(afresh: boolean): readonly DirectoryEntry[] | ErrnoName {
    if (this.#entries !== null && !afresh) return this.#entries;
    const names = this.#mounts.list(this.#place);
    if (failed(names)) return names;
    const up = this.#mounts.find(parentOf(this.path));
    const upNumber = failed(up) ? 0n : up.attributes.number;
    this.#entries = [
      { name: '.', kind: 'directory', number: this.#place.attributes.number },
      { name: '..', kind: 'directory', number: upNumber },
      ...names,
    ];
    return this.#entries;
  }
}
