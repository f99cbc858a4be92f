import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode } from '../../memory/backing.ts';
import type { FileInode } from './inode.ts';
import { ALWAYS_READY, type OpenFile, type Readiness } from './open-file.ts';
import type { Attributes } from './tree.ts';

/** Largest size of a file and largest position in it: those of ext4 with 4 KiB blocks. */
export const MAX_FILE_SIZE = 0xfff_ffff_f000n;

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
    const room = MAX_FILE_SIZE - position;
    if (room <= 0n) return 'EFBIG';
    return this.#inode.write(
      position,
      room < bytes.length ? bytes.subarray(0, Number(room)) : bytes,
    );
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
    return size > MAX_FILE_SIZE ? 'EFBIG' : this.#inode.resize(size);
  }

  opened(): void {
    this.#inode.use();
  }

  closed(): void {
    this.#inode.release();
  }
}
