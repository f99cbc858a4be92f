import type { ErrnoName } from '../../abi/errno.ts';
import { O } from '../../abi/fcntl.ts';
import { SiCode, Sig } from '../../abi/signals.ts';
import type { FileDescription } from '../files/file-table.ts';
import type { OpenFile, Transfer, Wait } from '../files/open-file.ts';
import { type Answer, sleepOn } from './answer.ts';
import type { SyscallContext } from './table.ts';
import type { UserBuffer } from './user-buffer.ts';

/** Bytes moved at a time: what the guest asks for never decides how much we allocate. */
export const CHUNK = 64 * 1024;
/** Pipes take whole pages of what is to be written. */
const PIPE_PAGE = 4096;

/** What a transfer came to; a wait has moved nothing. */
type Moved = number | ErrnoName | Wait;

/** Answer of a call that moved bytes through a description. */
export const movedAnswer = (
  ctx: SyscallContext,
  description: FileDescription,
  moved: Moved,
): Answer => {
  if (moved === 'EPIPE') raiseSigpipe(ctx);
  if (typeof moved !== 'object') return moved;
  return description.flags & O.NONBLOCK ? 'EAGAIN' : sleepOn(description.file, moved);
};

const raiseSigpipe = ({ kernel, task }: SyscallContext): void => {
  const { tgid: pid, uid } = task.group;
  kernel.sendSignal(task, { signal: Sig.SIGPIPE, code: SiCode.SI_USER, pid, uid });
};

/** Reads at `position` (or where the description stands, moving it) into user memory. */
export const readInto = (
  description: FileDescription,
  buffer: UserBuffer,
  position: bigint | null,
): Moved => {
  const { file } = description;
  const start = position ?? description.position;
  const moved = fill(file, start, buffer);
  if (position === null && file.seekable && typeof moved === 'number')
    description.position = start + BigInt(moved);
  return moved;
};

const fill = (file: OpenFile, start: bigint, buffer: UserBuffer): Moved => {
  const bytes = new Uint8Array(Math.min(CHUNK, buffer.length));
  let done = 0;
  do {
    const wanted = Math.min(bytes.length, buffer.length - done);
    const room = wholePages(file, buffer.writable(done, wanted), deliverable(file, wanted));
    if (room === 0 && wanted > 0) return done > 0 ? done : readNowhere(file, start);
    const got = file.read(start + BigInt(done), bytes.subarray(0, room));
    if (typeof got !== 'number') return done > 0 ? done : got;
    buffer.scatter(done, bytes.subarray(0, got));
    done += got;
    if (got < wanted) break;
  } while (done < buffer.length);
  return done;
};

/** How many bytes the file has to give now. */
const deliverable = (file: OpenFile, wanted: number): number =>
  Math.min(wanted, file.available?.() ?? wanted);

/** A read into memory that cannot be written: end of file, errors and waits come before EFAULT. */
const readNowhere = (file: OpenFile, position: bigint): Transfer => {
  if ((file.available?.() ?? 0) > 0) return 'EFAULT';
  const got = file.read(position, new Uint8Array(1));
  return typeof got === 'number' && got > 0 ? 'EFAULT' : got;
};

/** Writes from user memory at `position`, or where the description stands (its end with O_APPEND). */
export const writeFrom = (
  description: FileDescription,
  buffer: UserBuffer,
  position: bigint | null,
): Moved => {
  const { file, flags } = description;
  const atEnd = (flags & O.APPEND) !== 0 && file.seekable;
  const start = atEnd ? file.size() : (position ?? description.position);
  const moved = buffer.length === 0 ? 0 : drain(file, start, buffer);
  if (position === null && file.seekable && typeof moved === 'number')
    description.position = start + BigInt(moved);
  return moved;
};

const drain = (file: OpenFile, start: bigint, buffer: UserBuffer): Moved => {
  const bytes = new Uint8Array(Math.min(CHUNK, buffer.length));
  let done = 0;
  while (done < buffer.length) {
    const wanted = Math.min(bytes.length, buffer.length - done);
    if (file.discards === true) {
      done += wanted;
      continue;
    }
    const readable = wholePages(file, buffer.gather(done, bytes.subarray(0, wanted)), wanted);
    if (readable === 0) return done > 0 ? done : 'EFAULT';
    const put = file.write(start + BigInt(done), bytes.subarray(0, readable));
    if (typeof put !== 'number') return done > 0 && put !== 'EPIPE' ? done : put;
    done += put;
    if (put < wanted) break;
  }
  return done;
};

/** How much of a partly accessible chunk is moved: a pipe moves whole pages or none of them. */
const wholePages = (file: OpenFile, accessible: number, wanted: number): number =>
  accessible < wanted && !file.seekable && file.terminal === undefined
    ? accessible - (accessible % PIPE_PAGE)
    : accessible;
