import { bytesText } from '../base/byte-text.ts';
import { view } from '../base/bytes.ts';
import { TraplineError } from '../base/errors.ts';

export const badElf = (path: string, problem: string): TraplineError =>
  new TraplineError('bad-elf', `${path}: ${problem}`);

/** Takes a sentence about a part of a file that was left out because it is broken. */
export type Report = (problem: string) => void;

/** Little-endian reads that fail with one clear sentence instead of a RangeError. */
export class ElfReader {
  readonly bytes: Uint8Array;
  /** The file's name, for messages. */
  readonly path: string;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, path: string) {
    this.bytes = bytes;
    this.path = path;
    this.#view = view(bytes);
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  u64(at: number): bigint {
    return this.#view.getBigUint64(at, true);
  }

  /** Whether [offset, offset + size) lies inside the file. */
  has(offset: bigint, size: bigint): boolean {
    const length = BigInt(this.bytes.length);
    return size <= length && offset <= length - size;
  }

  /** Throws unless [offset, offset + size) lies inside the file. Returns the offset as a number. */
  need(offset: bigint, size: bigint, what: string): number {
    if (!this.has(offset, size))
      throw badElf(this.path, `truncated: ${what} past the end of the file`);
    return Number(offset);
  }

  /** The NUL-terminated string at `at`, or what there is of it before `end`. */
  string(at: number, end: number = this.bytes.length): string {
    const nul = this.bytes.indexOf(0, at);
    const to = nul < 0 || nul > end ? end : nul;
    return bytesText(this.bytes.subarray(at, to));
  }
}
