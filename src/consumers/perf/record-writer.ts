import { view } from '../../base/bytes.ts';

/** The size field of a record has 16 bits. */
const ROOM = 65536;

/** Where one record is put together, word by word. One a machine; overwritten by the next record. */
export class RecordWriter {
  readonly bytes = new Uint8Array(ROOM);
  readonly #view = view(this.bytes);
  /** Bytes written so far. */
  at = 0;

  /** Begins a record; {@link finish} puts its size into the header. */
  begin(type: number, misc: number): void {
    this.#view.setUint32(0, type, true);
    this.#view.setUint16(4, misc, true);
    this.at = 8;
  }

  /** The whole record. */
  finish(): Uint8Array {
    this.#view.setUint16(6, this.at, true);
    return this.bytes.subarray(0, this.at);
  }

  u32(value: number): void {
    this.#view.setUint32(this.at, value, true);
    this.at += 4;
  }

  u64(value: bigint): void {
    this.#view.setBigUint64(this.at, BigInt.asUintN(64, value), true);
    this.at += 8;
  }

  /** `size` zeroes to be filled by the caller. */
  reserve(size: number): Uint8Array {
    const part = this.bytes.subarray(this.at, this.at + size).fill(0);
    this.at += size;
    return part;
  }
}
