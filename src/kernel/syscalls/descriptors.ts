import type { ErrnoName } from '../../abi/errno.ts';
import { F, FD_CLOEXEC, O } from '../../abi/fcntl.ts';
import { s64 } from '../../base/bytes.ts';
import type { FileDescription } from '../files/file-table.ts';
import { PIPE_CAPACITY } from '../files/pipe.ts';
import { type Answer, always, answering, descriptor } from './answer.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';

/** dup2 and dup3 behind their own checks. */
const duplicateTo = (
  { files }: SyscallContext,
  description: FileDescription | undefined,
  newFd: number,
  closeOnExec: boolean,
): Answer => {
  if (newFd >= files.limit || description === undefined) return 'EBADF';
  files.replace(newFd, description, closeOnExec);
  return newFd;
};

const dup = answering(({ files }, [fd]) => {
  const description = files.get(asInt(fd));
  return description === undefined ? 'EBADF' : files.install(description);
});

const dup2 = answering((ctx, [oldArg, newArg]) => {
  const oldFd = asUint(oldArg);
  const newFd = asUint(newArg);
  const description = ctx.files.get(oldFd);
  if (oldFd === newFd) return description === undefined ? 'EBADF' : newFd;
  return duplicateTo(ctx, description, newFd, false);
});

const dup3 = answering((ctx, [oldArg, newArg, flagsArg]) => {
  const flags = asUint(flagsArg);
  if ((flags & ~O.CLOEXEC) !== 0 || asUint(oldArg) === asUint(newArg)) return 'EINVAL';
  const description = ctx.files.get(asUint(oldArg));
  return duplicateTo(ctx, description, asUint(newArg), flags !== 0);
});

/** Status flags F_SETFL may change. */
const SETTABLE = O.APPEND | O.NONBLOCK | O.DIRECT | O.NOATIME | O.ASYNC;

interface FcntlCall {
  readonly ctx: SyscallContext;
  readonly fd: number;
  readonly description: FileDescription;
  readonly arg: bigint;
}
type Command = (call: FcntlCall) => Answer;

const duplicateFrom =
  (closeOnExec: boolean): Command =>
  ({ ctx: { files }, description, arg }) =>
    arg >= BigInt(files.limit) ? 'EINVAL' : files.install(description, Number(arg), closeOnExec);

/** No other process can hold a lock, so that every lock is had at once. */
const lock: Command = () => 0;

/** Commands of fcntl(2); those marked work on an O_PATH descriptor too. */
const COMMANDS: ReadonlyMap<number, { readonly run: Command; readonly onPath?: true }> = new Map([
  [F.DUPFD, { run: duplicateFrom(false), onPath: true }],
  [F.DUPFD_CLOEXEC, { run: duplicateFrom(true), onPath: true }],
  [F.GETFD, { run: ({ ctx, fd }) => Number(ctx.files.closesOnExec(fd)), onPath: true }],
  [
    F.SETFD,
    {
      run: ({ ctx, fd, arg }) => {
        ctx.files.setCloseOnExec(fd, (asInt(arg) & FD_CLOEXEC) !== 0);
        return 0;
      },
      onPath: true,
    },
  ],
  [F.GETFL, { run: ({ description }) => description.flags, onPath: true }],
  [
    F.SETFL,
    {
      run: ({ description, arg }) => {
        description.flags = (description.flags & ~SETTABLE) | (asInt(arg) & SETTABLE);
        return 0;
      },
    },
  ],
  [F.SETLK, { run: lock }],
  [F.SETLKW, { run: lock }],
  [
    F.GETPIPE_SZ,
    {
      run: ({ description }) =>
        description.file.attributes().kind === 'fifo' ? PIPE_CAPACITY : 'EBADF',
    },
  ],
]);

const fcntl = answering((ctx, [fdArg, commandArg, arg]) => {
  const fd = asInt(fdArg);
  const description = ctx.files.get(fd);
  if (description === undefined) return 'EBADF';
  const command = COMMANDS.get(asUint(commandArg));
  if (description.isPath && command?.onPath !== true) return 'EBADF';
  return command?.run({ ctx, fd, description, arg }) ?? 'EINVAL';
});

const CloseRange = { UNSHARE: 2, CLOEXEC: 4 } as const;

const closeRange = answering(({ files }, [firstArg, lastArg, flagsArg]) => {
  const [first, last, flags] = [asUint(firstArg), asUint(lastArg), asUint(flagsArg)];
  if ((flags & ~(CloseRange.UNSHARE | CloseRange.CLOEXEC)) !== 0 || first > last) return 'EINVAL';
  for (const fd of files.numbers().filter((number) => number >= first && number <= last)) {
    if (flags & CloseRange.CLOEXEC) files.setCloseOnExec(fd, true);
    else files.close(fd);
  }
  return 0;
});

/** Nothing is cached here: what a file system would sync has been handed to the host already. */
const fsync = answering((ctx, [fd]) => {
  const description = descriptor(ctx, asInt(fd));
  if (description === undefined) return 'EBADF';
  const { kind } = description.file.attributes();
  return kind === 'file' || kind === 'directory' ? 0 : 'EINVAL';
});

const ifOpen = (answer: Answer) =>
  answering((ctx, [fd]) => (descriptor(ctx, asInt(fd)) === undefined ? 'EBADF' : answer));

const ftruncate = answering((ctx, [fd, lengthArg]) => {
  const size = s64(lengthArg);
  if (size < 0n) return 'EINVAL';
  const description = descriptor(ctx, asInt(fd));
  if (description === undefined) return 'EBADF';
  if (!description.writable) return 'EINVAL';
  return description.file.resize?.(size) ?? (resizable(description) ? null : 'EINVAL');
});

const resizable = ({ file }: FileDescription): boolean => file.resize !== undefined;

const FALLOC_FL_KEEP_SIZE = 1;

const fallocate = answering((ctx, [fd, mode, offsetArg, lengthArg]): Answer => {
  const description = descriptor(ctx, asInt(fd));
  if (description === undefined) return 'EBADF';
  const [offset, length] = [s64(offsetArg), s64(lengthArg)];
  if (offset < 0n || length <= 0n) return 'EINVAL';
  if ((asUint(mode) & ~FALLOC_FL_KEEP_SIZE) !== 0) return 'EOPNOTSUPP';
  if (!description.writable) return 'EBADF';
  const { file } = description;
  if (file.attributes().kind === 'fifo') return 'ESPIPE';
  if (file.resize === undefined) return 'ENODEV';
  const end = offset + length;
  return asUint(mode) !== 0 || end <= file.size() ? 0 : file.resize(end);
});

const close = answering(({ files }, [fd]): ErrnoName | null => files.close(asInt(fd)));

/** The life of descriptors. */
export const DESCRIPTOR_ROWS: readonly SyscallRow[] = [
  full('close', close),
  partial('close_range', 'CLOSE_RANGE_UNSHARE does nothing: there is one task', closeRange),
  full('dup', dup),
  full('dup2', dup2),
  full('dup3', dup3),
  partial('fcntl', 'no owners, leases, seals; locks are always granted', fcntl),
  partial('flock', 'locks are always granted: there is one process', ifOpen(0)),
  full('fsync', fsync),
  full('fdatasync', fsync),
  full('sync', always(0)),
  partial('fadvise64', 'advice is not taken', ifOpen(0)),
  full('ftruncate', ftruncate),
  partial('fallocate', 'no holes; FALLOC_FL_KEEP_SIZE reserves nothing', fallocate),
];
