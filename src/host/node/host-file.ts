import { closeSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { ErrnoName, TreeFile } from '../../index.ts';
import { attempt } from './host-errors.ts';

/** A regular file of the host, by its descriptor. */
export class HostFile implements TreeFile {
  readonly #fd: number;
  #open = true;

  constructor(fd: number) {
    this.#fd = fd;
  }

  size(): bigint {
    const size = attempt(() => fstatSync(this.#fd, { bigint: true }).size);
    return typeof size === 'bigint' ? size : 0n;
  }

  read(offset: bigint, into: Uint8Array): number | ErrnoName {
    return attempt(() => {
      let done = 0;
      while (done < into.length) {
        const got = readSync(this.#fd, into, done, into.length - done, offset + BigInt(done));
        if (got === 0) break;
        done += got;
      }
      return done;
    });
  }

  write(offset: bigint, bytes: Uint8Array): number | ErrnoName {
    return attempt(() => writeSync(this.#fd, bytes, 0, bytes.length, Number(offset)));
  }

  resize(size: bigint): ErrnoName | null {
    return attempt(() => ftruncateSync(this.#fd, Number(size))) ?? null;
  }

  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }
}
