import { Dt } from '../../abi/stat.ts';
import { view } from '../../base/bytes.ts';
import { nameToBytes } from '../files/names.ts';
import { type DirectoryEntry, type FileKind, failed } from '../files/tree.ts';
import { answering, descriptor } from './answer.ts';
import { CWD, placeAt } from './at.ts';
import { asInt, asUint, full, type SyscallRow } from './table.ts';
import { put } from './user.ts';

const getcwd = answering(({ files, space }, [into, size]) => {
  const path = nameToBytes(`${files.cwd}\0`);
  if (BigInt(path.length) > size) return 'ERANGE';
  return put(space, into, path) ?? path.length;
});

const chdir = answering((ctx, [path]) => {
  const place = placeAt(ctx, CWD, path);
  if (failed(place)) return place;
  if (place.attributes.kind !== 'directory') return 'ENOTDIR';
  ctx.files.cwd = place.path;
  return 0;
});

const fchdir = answering(({ files }, [fd]) => {
  const description = files.get(asInt(fd));
  if (description === undefined) return 'EBADF';
  if (description.file.entries === undefined) return 'ENOTDIR';
  files.cwd = description.file.path;
  return 0;
});

const TYPES: Readonly<Record<FileKind, number>> = {
  file: Dt.REG,
  directory: Dt.DIR,
  symlink: Dt.LNK,
  fifo: Dt.FIFO,
  socket: Dt.SOCK,
  'char-device': Dt.CHR,
  'block-device': Dt.BLK,
};

const HEADER = 19; // struct linux_dirent64: ino, off, reclen, type; then the name

/** struct linux_dirent64, padded to 8 bytes. @param next position of the entry behind it */
const direntImage = ({ name, kind, number }: DirectoryEntry, next: number): Uint8Array => {
  const text = nameToBytes(name);
  const bytes = new Uint8Array((HEADER + text.length + 1 + 7) & ~7);
  const into = view(bytes);
  into.setBigUint64(0, number, true);
  into.setBigInt64(8, BigInt(next), true);
  into.setUint16(16, bytes.length, true);
  bytes[18] = TYPES[kind];
  bytes.set(text, HEADER);
  return bytes;
};

const getdents64 = answering((ctx, [fd, into, sizeArg]) => {
  const description = descriptor(ctx, asInt(fd));
  if (description === undefined) return 'EBADF';
  const entries = description.file.entries?.(description.position === 0n) ?? 'ENOTDIR';
  if (failed(entries)) return entries;
  const size = asUint(sizeArg);
  let used = 0;
  for (;;) {
    const index = Number(description.position);
    const entry = entries[index];
    if (entry === undefined) return used;
    const image = direntImage(entry, index + 1);
    if (used + image.length > size) return used > 0 ? used : 'EINVAL';
    if (put(ctx.space, into + BigInt(used), image) !== null) return used > 0 ? used : 'EFAULT';
    used += image.length;
    description.position++;
  }
});

/** The working directory and what is in directories. */
export const DIRECTORY_ROWS: readonly SyscallRow[] = [
  full('getcwd', getcwd),
  full('chdir', chdir),
  full('fchdir', fchdir),
  full('getdents64', getdents64),
];
