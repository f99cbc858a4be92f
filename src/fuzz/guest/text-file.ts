/** The file whose text is probed; its bytes change from case to case. */
import type { Inode } from '../../memory/backing.ts';
import { PAGE, TEXT } from './layout.ts';

export class TextFile implements Inode {
  readonly device = { major: 0xfe, minor: 0 };
  readonly number = 1n;
  readonly path = '/fuzz/text';
  readonly size = BigInt(TEXT.pages * PAGE);
  readonly bytes: Uint8Array = new Uint8Array(TEXT.pages * PAGE).fill(0xcc);

  read(offset: bigint, into: Uint8Array): number {
    const from = Math.min(Number(offset), this.bytes.length);
    const piece = this.bytes.subarray(from, from + into.length);
    into.set(piece);
    return piece.length;
  }
}
