import type { ErrnoName } from '../../abi/errno.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import { accessOk, get } from './user.ts';

/** Most a single call moves (MAX_RW_COUNT). */
export const MAX_RW_COUNT = 0x7ffff000;
/** Vectors one call takes (UIO_MAXIOV). */
const UIO_MAXIOV = 1024;

const PAGE = 4096n;

interface Segment {
  readonly base: bigint;
  readonly length: number;
}

/** User memory that a call reads from or writes into: one range or a vector (iov_iter). */
export class UserBuffer {
  /** Bytes in all, at most {@link MAX_RW_COUNT}. */
  readonly length: number;
  readonly #space: AddressSpace;
  readonly #segments: readonly Segment[];

  constructor(space: AddressSpace, segments: readonly Segment[]) {
    this.#space = space;
    this.#segments = segments;
    this.length = segments.reduce((sum, { length }) => sum + length, 0);
  }

  /** Copies out of user memory from `skip` on; how many bytes before the first unreadable one. */
  gather(skip: number, into: Uint8Array): number {
    return this.#each(skip, into.length, (address, from, to) =>
      this.#space.read(address, into.subarray(from, to)),
    );
  }

  /** Copies into user memory from `skip` on; how many bytes before the first unwritable one. */
  scatter(skip: number, bytes: Uint8Array): number {
    return this.#each(skip, bytes.length, (address, from, to) =>
      this.#space.write(address, bytes.subarray(from, to)),
    );
  }

  /** How many bytes from `skip` on can be written, `limit` at most (fault_in_writeable). */
  writable(skip: number, limit: number): number {
    return this.#each(skip, limit, (address, from, to) => {
      const end = address + BigInt(to - from);
      for (let at = address; at < end; at = (at | (PAGE - 1n)) + 1n)
        if (this.#space.resolve(at, 'write') !== 'resolved') return Number(at - address);
      return to - from;
    });
  }

  /** Runs `move` over the pieces of [skip, skip + length); stops where it did less than asked. */
  #each(
    skip: number,
    length: number,
    move: (address: bigint, from: number, to: number) => number,
  ): number {
    let start = skip;
    let done = 0;
    for (const segment of this.#segments) {
      if (done === length) break;
      if (start >= segment.length) {
        start -= segment.length;
        continue;
      }
      const size = Math.min(segment.length - start, length - done);
      const moved = move(segment.base + BigInt(start), done, done + size);
      done += moved;
      if (moved < size) break;
      start = 0;
    }
    return done;
  }
}

/** import_ubuf. */
export const userRange = (
  space: AddressSpace,
  base: bigint,
  count: bigint,
): UserBuffer | 'EFAULT' => {
  if (!accessOk(base, count)) return 'EFAULT';
  const length = count > BigInt(MAX_RW_COUNT) ? MAX_RW_COUNT : Number(count);
  return new UserBuffer(space, [{ base, length }]);
};

/** import_iovec: `count` entries of struct iovec at `address`. */
export const userVector = (
  space: AddressSpace,
  address: bigint,
  count: bigint,
): UserBuffer | ErrnoName => {
  if (count > BigInt(UIO_MAXIOV)) return 'EINVAL';
  const table = get(space, address, 16 * Number(count));
  if (table === undefined) return 'EFAULT';
  const segments: Segment[] = [];
  let room = MAX_RW_COUNT;
  for (let at = 0; at < table.byteLength; at += 16) {
    const base = table.getBigUint64(at, true);
    const length = table.getBigInt64(at + 8, true);
    if (length < 0n) return 'EINVAL';
    if (!accessOk(base, length)) return 'EFAULT';
    const size = length > BigInt(room) ? room : Number(length);
    room -= size;
    segments.push({ base, length: size });
  }
  return new UserBuffer(space, segments);
};
