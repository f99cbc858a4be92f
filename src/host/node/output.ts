import { writeSync } from 'node:fs';
import { type ErrnoName, textBytes } from '../../index.ts';
import { errnoOf } from './host-errors.ts';

const NAP_MS = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all bytes to a descriptor of the host, waiting when a non-blocking one is full. Whoever
 * calls has nothing else to do: the guest's write(2) is not over before its bytes are.
 */
export const writeFully = (fd: number, bytes: Uint8Array): ErrnoName | null => {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EAGAIN') Atomics.wait(NEVER, 0, 0, NAP_MS);
      else if (code !== 'EINTR') return errnoOf(error);
    }
  }
  return null;
};

const NEWLINE = 0x0a;
const BUFFERED = 64 * 1024;

/**
 * One descriptor for the guest's bytes and our own lines. A line of ours always starts in the first
 * column; lines are collected and written before the guest's next bytes, in order.
 */
export class SharedOutput {
  readonly #fd: number;
  #lines = '';
  #atLineStart = true;
  #error: ErrnoName | null = null;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** What ended the writing of lines (EPIPE: nobody reads any more), or null. */
  get error(): ErrnoName | null {
    return this.#error;
  }

  /** The guest's bytes; fits `StandardIo`. */
  readonly guest = (bytes: Uint8Array): ErrnoName | null => {
    const last = bytes.at(-1);
    if (last === undefined) return null;
    this.flush();
    this.#atLineStart = last === NEWLINE;
    return writeFully(this.#fd, bytes);
  };

  /** A line of ours, without its line end. */
  line(text: string): void {
    if (!this.#atLineStart) this.#lines += '\n';
    this.#atLineStart = true;
    this.#lines += `${text}\n`;
    if (this.#lines.length >= BUFFERED) this.flush();
  }

  flush(): void {
    if (this.#lines === '') return;
    const bytes = textBytes(this.#lines);
    this.#lines = '';
    this.#error ??= writeFully(this.#fd, bytes);
  }
}
