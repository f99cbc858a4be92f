import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode } from '../../memory/backing.ts';
import type { FileInode } from './inode.ts';
import { ALWAYS_READY, type OpenFile, type Readiness } from './open-file.ts';
import type { Attributes } from './tree.ts';

/** An open regular file of a tree. */
export class RegularFile implements OpenFile {
  readonly seekable = true;
  readonly #inode: FileInode;

  constructor(inode: FileInode) {
    this.#inode = inode;
  }

  get path(): string {
    return this.#inode.path;
  }

  attributes(): Attributes {
    return this.#inode.attributes();
  }

  read(position: bigint, into: Uint8Array): number | ErrnoName {
    return this.#inode.readOrFail(position, into);
  }

  write(position: bigint, bytes: Uint8Array): number | ErrnoName {
    return this.#inode.write(position, bytes);
  }

  readiness(): Readiness {
    return ALWAYS_READY;
  }

  size(): bigint {
    return this.#inode.size;
  }

  mapping(): Inode {
    this.#inode.pin();
    return this.#inode;
  }

  resize(size: bigint): ErrnoName | null {
    return this.#inode.resize(size);
  }

  opened(): void {
    this.#inode.use();
  }

  closed(): void {
    this.#inode.release();
  }
}
