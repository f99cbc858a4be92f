import { fromHex } from '../base/bytes.ts';
import type { Inode } from '../memory/backing.ts';
import type { ExecCase, ExecTable } from './exec-table.ts';
import type { TextRange } from './layout.ts';

const INT3 = 0xcc;

/** The program's file: of all cases it holds one at a time, and an int3 where a run ends. */
export class TextFile implements Inode {
  readonly device = { major: 0xfe, minor: 0 };
  readonly number = 1n;
  readonly path = '/cases';
  readonly size: bigint;
  readonly #start: bigint;
  readonly #caps: readonly bigint[];
  #code: Uint8Array = new Uint8Array(0);
  #entry = 0n;

  constructor({ start, end }: TextRange, { cap0, cap1 }: ExecTable) {
    this.#start = start;
    this.size = end - start;
    this.#caps = [BigInt(cap0), BigInt(cap1)];
  }

  /** File offset of an address. */
  offsetOf(address: bigint): bigint {
    return address - this.#start;
  }

  /** Preconditions: no page of the file is in memory. */
  hold({ entry, code }: ExecCase): void {
    this.#entry = BigInt(entry);
    this.#code = fromHex(code) ?? new Uint8Array(0);
  }

  read(offset: bigint, into: Uint8Array): number {
    const count = Math.max(0, Math.min(into.length, Number(this.size - offset)));
    into.fill(0, 0, count);
    const from = this.#start + offset;
    const put = (address: bigint, bytes: Uint8Array): void => {
      const at = Number(address - from);
      for (const [i, byte] of bytes.entries())
        if (at + i >= 0 && at + i < count) into[at + i] = byte;
    };
    for (const cap of this.#caps) put(cap, Uint8Array.of(INT3));
    put(this.#entry, this.#code);
    return count;
  }
}
