import type { ErrnoName } from '../../abi/errno.ts';
import { O } from '../../abi/fcntl.ts';
import { s64 } from '../../base/bytes.ts';
import type { FileDescription } from '../files/file-table.ts';
import type { Transfer } from '../files/open-file.ts';
import { type Answer, answering, descriptor } from './answer.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { CHUNK, movedAnswer } from './transfer.ts';
import { get, put, words } from './user.ts';
import { MAX_RW_COUNT } from './user-buffer.ts';

/** One side of a copy: where it stands, in the description or in a variable of the caller. */
interface Side {
  readonly description: FileDescription;
  /** Null: the description's position, which moves along. */
  readonly at: bigint | null;
}

const copy = (from: Side, to: Side, count: bigint): Transfer => {
  const limit = count > BigInt(MAX_RW_COUNT) ? MAX_RW_COUNT : Number(count);
  const bytes = new Uint8Array(Math.min(CHUNK, limit));
  let done = 0;
  while (done < limit) {
    const part = bytes.subarray(0, Math.min(bytes.length, limit - done));
    const got = from.description.file.read(positionOf(from, done), part);
    if (typeof got !== 'number') return done > 0 ? done : got;
    if (got === 0) break;
    const put = to.description.file.write(positionOf(to, done), part.subarray(0, got));
    if (typeof put !== 'number') return done > 0 ? done : put;
    done += put;
    if (put < got) break;
  }
  return done;
};

const positionOf = ({ description, at }: Side, done: number): bigint =>
  (at ?? description.position) + BigInt(done);

/** Moves the positions after a copy; EFAULT when the caller's variable cannot be written. */
const advance = (
  { space }: SyscallContext,
  { description, at }: Side,
  address: bigint,
  moved: number,
): ErrnoName | null => {
  if (at !== null) return put(space, address, words(at + BigInt(moved)));
  if (description.file.seekable) description.position += BigInt(moved);
  return null;
};

const sideAt = (
  { space }: SyscallContext,
  description: FileDescription,
  address: bigint,
): Side | 'EFAULT' => {
  if (address === 0n) return { description, at: null };
  const at = get(space, address, 8)?.getBigInt64(0, true);
  return at === undefined ? 'EFAULT' : { description, at };
};

const sendfile = answering((ctx, [outFd, inFd, offsetAddress, count]): Answer => {
  const input = descriptor(ctx, asInt(inFd));
  const output = descriptor(ctx, asInt(outFd));
  const from = input && sideAt(ctx, input, offsetAddress);
  if (from === 'EFAULT') return from;
  if (!from?.description.readable) return 'EBADF';
  if (from.at !== null && !from.description.file.seekable) return 'ESPIPE';
  if (!output?.writable) return 'EBADF';
  if (from.description.file.mapping === undefined || (output.flags & O.APPEND) !== 0)
    return 'EINVAL';
  if ((from.at ?? 0n) < 0n || s64(count) < 0n) return 'EINVAL';
  const to: Side = { description: output, at: null };
  const moved = copy(from, to, count);
  if (typeof moved !== 'number') return movedAnswer(ctx, output, moved);
  advance(ctx, to, 0n, moved);
  return advance(ctx, from, offsetAddress, moved) ?? moved;
});

const copyFileRange = answering((ctx, [inFd, inAddress, outFd, outAddress, count, flags]) => {
  const input = descriptor(ctx, asInt(inFd));
  const output = descriptor(ctx, asInt(outFd));
  if (input === undefined || output === undefined) return 'EBADF';
  const from = sideAt(ctx, input, inAddress);
  const to = sideAt(ctx, output, outAddress);
  if (from === 'EFAULT' || to === 'EFAULT') return 'EFAULT';
  if (asUint(flags) !== 0) return 'EINVAL';
  const kinds = [input, output].map(({ file }) => file.attributes().kind);
  if (kinds.includes('directory')) return 'EISDIR';
  if (kinds.some((kind) => kind !== 'file')) return 'EINVAL';
  if (!input.readable || !output.writable || (output.flags & O.APPEND) !== 0) return 'EBADF';
  const moved = copy(from, to, count);
  if (typeof moved !== 'number') return movedAnswer(ctx, output, moved);
  return advance(ctx, from, inAddress, moved) ?? advance(ctx, to, outAddress, moved) ?? moved;
});

/** Copies that never pass user memory. */
export const COPYING_ROWS: readonly SyscallRow[] = [
  full('sendfile', sendfile),
  partial('copy_file_range', 'overlapping ranges of one file are not refused', copyFileRange),
];
