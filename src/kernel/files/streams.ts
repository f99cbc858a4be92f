import type { ErrnoName } from '../../abi/errno.ts';
import { ByteQueue } from './byte-queue.ts';
import { kernelAttributes } from './file-attributes.ts';
import { type OpenFile, type Readiness, type Transfer, WAIT_FOR_HOST } from './open-file.ts';
import type { Terminal } from './terminal.ts';
import type { Attributes } from './tree.ts';

/** Takes the guest's output at once; `EPIPE` when nobody reads it any more. */
export type OutputSink = (bytes: Uint8Array) => ErrnoName | null;

const PIPE_DEVICE = { major: 0, minor: 14 };
const PTS_DEVICE = { major: 0, minor: 24 };
const PTS_0 = { major: 136, minor: 0 };

/** A standard stream is a terminal or else the end of a pipe, whatever the host has behind it. */
const streamAttributes = (number: bigint, terminal: Terminal | undefined): Attributes =>
  terminal === undefined
    ? kernelAttributes('fifo', 0o600, PIPE_DEVICE, number)
    : kernelAttributes('char-device', 0o620, PTS_DEVICE, 3n, PTS_0);

const streamPath = (number: bigint, terminal: Terminal | undefined): string =>
  terminal === undefined ? `pipe:[${number}]` : '/dev/pts/0';

const STDIN_NUMBER = 1n;

/** stdin: the machine feeds it, a read of nothing waits for the host. */
export class InputStream implements OpenFile {
  readonly seekable = false;
  readonly path: string;
  readonly terminal?: Terminal;
  readonly #queue = new ByteQueue();
  #ended = false;

  constructor(terminal?: Terminal) {
    this.path = streamPath(STDIN_NUMBER, terminal);
    if (terminal !== undefined) this.terminal = terminal;
  }

  /** More input; on a terminal each call is one line. */
  feed(bytes: Uint8Array): void {
    this.#queue.push(bytes);
  }

  /** No more input will come: reads give end of file once the queue is empty. */
  end(): void {
    this.#ended = true;
  }

  attributes(): Attributes {
    return streamAttributes(STDIN_NUMBER, this.terminal);
  }

  read(_position: bigint, into: Uint8Array): Transfer {
    const got = this.#queue.take(into, this.terminal !== undefined);
    return got > 0 || this.#ended || into.length === 0 ? got : WAIT_FOR_HOST;
  }

  write(): ErrnoName {
    return 'EBADF';
  }

  readiness(): Readiness {
    const isTerminal = this.terminal !== undefined;
    // End of file makes a terminal readable; of a pipe it is told as POLLHUP.
    const readable = this.#queue.length > 0 || (this.#ended && isTerminal);
    return { readable, writable: isTerminal, hangup: this.#ended && !isTerminal };
  }

  size(): bigint {
    return 0n;
  }

  available(): number {
    return this.#queue.next(this.terminal !== undefined);
  }

  capture(): unknown {
    return { pieces: this.#queue.capture(), ended: this.#ended };
  }

  restore(state: unknown): void {
    const { pieces, ended } = state as { pieces: readonly Uint8Array[]; ended: boolean };
    this.#queue.restore(pieces);
    this.#ended = ended;
  }
}

/** stdout or stderr. */
export class OutputStream implements OpenFile {
  readonly seekable = false;
  readonly path: string;
  readonly terminal?: Terminal;
  readonly #number: bigint;
  readonly #sink: OutputSink;

  /** @param number inode number of the pipe it poses as */
  constructor(number: bigint, sink: OutputSink, terminal?: Terminal) {
    this.path = streamPath(number, terminal);
    this.#number = number;
    this.#sink = sink;
    if (terminal !== undefined) this.terminal = terminal;
  }

  attributes(): Attributes {
    return streamAttributes(this.#number, this.terminal);
  }

  read(): Transfer {
    return this.terminal === undefined ? 'EBADF' : 0;
  }

  write(_position: bigint, bytes: Uint8Array): number | ErrnoName {
    return this.#sink(bytes) ?? bytes.length;
  }

  readiness(): Readiness {
    return { readable: false, writable: true };
  }

  size(): bigint {
    return 0n;
  }
}
