import type { ErrnoName } from '../../abi/errno.ts';
import { Seek } from '../../abi/fcntl.ts';
import { s64 } from '../../base/bytes.ts';
import type { FileDescription } from '../files/file-table.ts';
import { MAX_FILE_SIZE } from '../files/regular-file.ts';
import { type Answer, answering, descriptor } from './answer.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { movedAnswer, readInto, writeFrom } from './transfer.ts';
import { type UserBuffer, userRange, userVector } from './user-buffer.ts';

type Direction = 'read' | 'write';

/** The description if it is open for that direction. */
const openFor = (
  ctx: SyscallContext,
  fd: number,
  direction: Direction,
): FileDescription | undefined => {
  const description = descriptor(ctx, fd);
  const may = direction === 'read' ? description?.readable : description?.writable;
  return may === true ? description : undefined;
};

/** Where user memory comes from: one range or a vector. */
type Importer = (
  space: SyscallContext['space'],
  address: bigint,
  count: bigint,
) => UserBuffer | ErrnoName;

/** @param position null = the description's own */
const transfer = (
  ctx: SyscallContext,
  direction: Direction,
  fd: number,
  buffer: UserBuffer | ErrnoName,
  position: bigint | null,
): Answer => {
  const description = openFor(ctx, fd, direction);
  if (description === undefined) return 'EBADF';
  if (typeof buffer === 'string') return buffer;
  const move = direction === 'read' ? readInto : writeFrom;
  return movedAnswer(ctx, description, move(description, buffer, position));
};

const plain = (direction: Direction, importer: Importer) =>
  answering((ctx, [fd, address, count]) =>
    transfer(ctx, direction, asInt(fd), importer(ctx.space, address, count), null),
  );

/** pread64 and the like. The position is checked before the descriptor. */
const positioned = (direction: Direction, importer: Importer) =>
  answering((ctx, [fd, address, count, offset]) => {
    if (s64(offset) < 0n) return 'EINVAL';
    return atOffset(ctx, direction, asInt(fd), importer(ctx.space, address, count), offset);
  });

const atOffset = (
  ctx: SyscallContext,
  direction: Direction,
  fd: number,
  buffer: UserBuffer | ErrnoName,
  offset: bigint,
): Answer => {
  const description = descriptor(ctx, fd);
  if (description === undefined) return 'EBADF';
  if (!description.file.seekable) return 'ESPIPE';
  return transfer(ctx, direction, fd, buffer, offset);
};

/** preadv2: offset -1 means the description's position; no RWF_ flag is known. */
const flagged = (direction: Direction) =>
  answering((ctx, [fd, address, count, offset, , flags]) => {
    const buffer = userVector(ctx.space, address, count);
    if (asUint(flags) !== 0) return 'EOPNOTSUPP';
    if (s64(offset) === -1n) return transfer(ctx, direction, asInt(fd), buffer, null);
    if (s64(offset) < 0n) return 'EINVAL';
    return atOffset(ctx, direction, asInt(fd), buffer, offset);
  });

const lseek = answering((ctx, [fdArg, offsetArg, whenceArg]) => {
  const description = descriptor(ctx, asInt(fdArg));
  if (description === undefined) return 'EBADF';
  const whence = asUint(whenceArg);
  if (whence > Seek.HOLE) return 'EINVAL';
  const { file } = description;
  if (!file.seekable) return 'ESPIPE';
  const target = seekTarget(description, s64(offsetArg), whence);
  if (typeof target === 'string') return target;
  if (target < 0n || target > MAX_FILE_SIZE) return 'EINVAL';
  description.position = target;
  return target;
});

const seekTarget = (
  { file, position }: FileDescription,
  offset: bigint,
  whence: number,
): bigint | ErrnoName => {
  // Character devices ignore it (null_lseek).
  if (file.attributes().kind === 'char-device') return 0n;
  if (whence === Seek.SET) return offset;
  if (whence === Seek.CUR) return position + offset;
  const size = file.size();
  if (whence === Seek.END) return size + offset;
  // Files are taken to have no holes but the one behind their end.
  if (offset < 0n || offset >= size) return 'ENXIO';
  return whence === Seek.DATA ? offset : size;
};

/** Moving bytes through descriptors. */
export const READ_WRITE_ROWS: readonly SyscallRow[] = [
  full('read', plain('read', userRange)),
  full('write', plain('write', userRange)),
  full('readv', plain('read', userVector)),
  full('writev', plain('write', userVector)),
  full('pread64', positioned('read', userRange)),
  full('pwrite64', positioned('write', userRange)),
  full('preadv', positioned('read', userVector)),
  full('pwritev', positioned('write', userVector)),
  partial('preadv2', 'no RWF_ flags', flagged('read')),
  partial('pwritev2', 'no RWF_ flags', flagged('write')),
  partial('lseek', 'SEEK_DATA and SEEK_HOLE see no holes', lseek),
];
