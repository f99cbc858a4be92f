import type { Inode } from '../../src/memory/backing.ts';

let next = 1n;

/** A file whose bytes are given. */
export const memoryInode = (path: string, bytes: Uint8Array): Inode => ({
  device: { major: 0xfe, minor: 0 },
  number: next++,
  path,
  size: BigInt(bytes.length),
  read(offset, into) {
    const from = Math.min(Number(offset), bytes.length);
    const piece = bytes.subarray(from, from + into.length);
    into.set(piece);
    return piece.length;
  },
});
