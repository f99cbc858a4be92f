import type { ErrnoName } from '../../abi/errno.ts';
import type { OpenFile } from './open-file.ts';
import { InputStream, type OutputSink, OutputStream } from './streams.ts';
import { Terminal, type WindowSize } from './terminal.ts';

/** Where the guest's output goes and which of its streams are terminals. */
export interface StandardStreamOptions {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  /** The host's terminal, if any stream is one. */
  readonly terminal?: {
    readonly size?: WindowSize;
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
  };
}

/** Descriptors 0, 1 and 2 of the first process. */
export class StandardStreams {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** What /dev/tty opens; null without a terminal. */
  readonly terminal: OpenFile | null;
  readonly #terminal: Terminal | null;

  constructor({ stdout, stderr, terminal }: StandardStreamOptions) {
    const tty = terminal === undefined ? null : new Terminal(terminal.size);
    const on = (flag: boolean | undefined): Terminal | undefined =>
      flag === true && tty !== null ? tty : undefined;
    this.stdin = new InputStream(on(terminal?.stdin));
    this.stdout = new OutputStream(2n, stdout, on(terminal?.stdout));
    this.stderr = new OutputStream(3n, stderr, on(terminal?.stderr));
    this.#terminal = tty;
    this.terminal = tty === null ? null : this.#controlling(tty);
  }

  capture(): unknown {
    return { stdin: this.stdin.capture(), termios: this.#terminal?.termios };
  }

  restore(state: unknown): void {
    const { stdin, termios } = state as { stdin: unknown; termios?: Uint8Array };
    this.stdin.restore(stdin);
    if (this.#terminal !== null && termios !== undefined) this.#terminal.termios = termios;
  }

  /** /dev/tty: reads what stdin reads, writes where a terminal is. */
  #controlling(terminal: Terminal): OpenFile {
    const { stdin, stdout, stderr } = this;
    const output = stdout.terminal === undefined ? stderr : stdout;
    return {
      path: '/dev/tty',
      seekable: false,
      terminal,
      attributes: () => output.attributes(),
      read: (position, into) =>
        stdin.terminal === undefined ? ('EIO' satisfies ErrnoName) : stdin.read(position, into),
      write: (position, bytes) =>
        output.terminal === undefined ? bytes.length : output.write(position, bytes),
      readiness: () => ({ ...stdin.readiness(), writable: true }),
      size: () => 0n,
      available: () => stdin.available(),
    };
  }
}
