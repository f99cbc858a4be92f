import type { InputSource } from '../../index.ts';

const NEWLINE = 0x0a;

/**
 * The process's standard input as the guest's. The stream is not touched before the guest reads, so
 * that a guest that never does leaves the input to others. (fs.read would keep a thread, and with
 * it the process, until input comes.)
 */
export class ProcessInput implements InputSource {
  #rest: Uint8Array = new Uint8Array(0);
  #touched = false;
  #closed = false;

  /** More bytes, at most a line from a terminal; null at the end. */
  async read(): Promise<Uint8Array | null> {
    this.#touched = true;
    const { stdin } = process;
    while (this.#rest.length === 0) {
      if (this.#closed || stdin.readableEnded || stdin.destroyed) return null;
      const chunk: unknown = stdin.read();
      if (chunk instanceof Uint8Array) this.#rest = chunk;
      else await nextEvent();
    }
    const end = stdin.isTTY ? this.#rest.indexOf(NEWLINE) + 1 : 0;
    const piece = end === 0 ? this.#rest : this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** Lets the process end although input may still come; a pending read answers null. */
  close(): void {
    this.#closed = true;
    if (this.#touched) process.stdin.destroy();
  }
}

const EVENTS = ['readable', 'end', 'error', 'close'] as const;

/** Until something happens on stdin. An error ends the stream, and that is what the guest sees. */
const nextEvent = (): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      for (const event of EVENTS) process.stdin.off(event, done);
      resolve();
    };
    for (const event of EVENTS) process.stdin.on(event, done);
  });
