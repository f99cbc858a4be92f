import type { ErrnoName } from '../../abi/errno.ts';
import { ByteQueue } from './byte-queue.ts';
import { kernelAttributes } from './file-attributes.ts';
import { type OpenFile, type Readiness, type Transfer, WAIT_FOR_PEER } from './open-file.ts';
import type { Attributes } from './tree.ts';

/** pipe(7): bytes a pipe holds, and the size up to which a write is not torn. */
export const PIPE_CAPACITY = 65536;
const PIPE_BUF = 4096;

const PIPE_DEVICE = { major: 0, minor: 14 };

/** What both ends share. */
class Pipe {
  readonly queue = new ByteQueue();
  readonly number: bigint;
  readers = 0;
  writers = 0;

  constructor(number: bigint) {
    this.number = number;
  }
}

abstract class PipeEnd implements OpenFile {
  readonly seekable = false;
  protected readonly pipe: Pipe;

  constructor(pipe: Pipe) {
    this.pipe = pipe;
  }

  get path(): string {
    return `pipe:[${this.pipe.number}]`;
  }

  attributes(): Attributes {
    return kernelAttributes('fifo', 0o600, PIPE_DEVICE, this.pipe.number);
  }

  size(): bigint {
    return 0n;
  }

  available(): number {
    return this.pipe.queue.length;
  }

  capture(): unknown {
    const { queue, readers, writers } = this.pipe;
    return { pieces: queue.capture(), readers, writers };
  }

  restore(state: unknown): void {
    const saved = state as { pieces: readonly Uint8Array[]; readers: number; writers: number };
    this.pipe.queue.restore(saved.pieces);
    this.pipe.readers = saved.readers;
    this.pipe.writers = saved.writers;
  }

  abstract read(position: bigint, into: Uint8Array): Transfer;
  abstract write(position: bigint, bytes: Uint8Array): Transfer;
  abstract readiness(): Readiness;
  abstract opened(): void;
  abstract closed(): void;
}

class PipeReader extends PipeEnd {
  read(_position: bigint, into: Uint8Array): Transfer {
    const got = this.pipe.queue.take(into);
    return got > 0 || into.length === 0 || this.pipe.writers === 0 ? got : WAIT_FOR_PEER;
  }

  write(): ErrnoName {
    return 'EBADF';
  }

  readiness(): Readiness {
    const hangup = this.pipe.writers === 0;
    return { readable: this.pipe.queue.length > 0, writable: false, hangup };
  }

  opened(): void {
    this.pipe.readers++;
  }

  closed(): void {
    this.pipe.readers--;
  }
}

class PipeWriter extends PipeEnd {
  read(): ErrnoName {
    return 'EBADF';
  }

  write(_position: bigint, bytes: Uint8Array): Transfer {
    if (this.pipe.readers === 0) return 'EPIPE';
    const room = PIPE_CAPACITY - this.pipe.queue.length;
    const whole = bytes.length <= PIPE_BUF;
    if (whole ? room < bytes.length : room === 0) return WAIT_FOR_PEER;
    const part = bytes.subarray(0, room);
    this.pipe.queue.push(part);
    return part.length;
  }

  readiness(): Readiness {
    const error = this.pipe.readers === 0;
    return { readable: false, writable: this.pipe.queue.length <= PIPE_CAPACITY - PIPE_BUF, error };
  }

  opened(): void {
    this.pipe.writers++;
  }

  closed(): void {
    this.pipe.writers--;
  }
}

/** pipe(2) without descriptors. */
export const makePipe = (
  number: bigint,
): { readonly reader: OpenFile; readonly writer: OpenFile } => {
  const pipe = new Pipe(number);
  return { reader: new PipeReader(pipe), writer: new PipeWriter(pipe) };
};
