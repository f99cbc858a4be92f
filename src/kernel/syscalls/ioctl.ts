import { O } from '../../abi/fcntl.ts';
import { view } from '../../base/bytes.ts';
import type { FileDescription } from '../files/file-table.ts';
import { TERMIOS_SIZE, type Terminal } from '../files/terminal.ts';
import { type Answer, answering, descriptor } from './answer.ts';
import { asInt, asUint, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { get, put, word32 } from './user.ts';

/** Requests of ioctl(2) (asm-generic/ioctls.h). */
const Request = {
  TCGETS: 0x5401,
  TCSETS: 0x5402,
  TCSETSW: 0x5403,
  TCSETSF: 0x5404,
  TIOCGPGRP: 0x540f,
  TIOCSPGRP: 0x5410,
  TIOCGWINSZ: 0x5413,
  TIOCSWINSZ: 0x5414,
  FIONREAD: 0x541b,
  FIONBIO: 0x5421,
  TIOCGSID: 0x5429,
  FIONCLEX: 0x5450,
  FIOCLEX: 0x5451,
} as const;

interface IoctlCall {
  readonly ctx: SyscallContext;
  readonly fd: number;
  readonly description: FileDescription;
  /** The third argument: an address for most requests. */
  readonly arg: bigint;
}
type Handler = (call: IoctlCall) => Answer;

const setTermios = ({ ctx, arg }: IoctlCall, terminal: Terminal): Answer => {
  const termios = get(ctx.space, arg, TERMIOS_SIZE);
  if (termios === undefined) return 'EFAULT';
  terminal.termios = new Uint8Array(termios.buffer);
  return 0;
};

const windowSize = ({ size }: Terminal): Uint8Array => {
  const bytes = new Uint8Array(8);
  view(bytes).setUint16(0, size.rows, true);
  view(bytes).setUint16(2, size.columns, true);
  return bytes;
};

const setWindowSize = ({ ctx, arg }: IoctlCall, terminal: Terminal): Answer => {
  const size = get(ctx.space, arg, 8);
  if (size === undefined) return 'EFAULT';
  terminal.size = { rows: size.getUint16(0, true), columns: size.getUint16(2, true) };
  return 0;
};

/** What only a terminal answers; ENOTTY from everything else. */
const TERMINAL: ReadonlyMap<number, (call: IoctlCall, terminal: Terminal) => Answer> = new Map([
  [Request.TCGETS, ({ ctx, arg }, terminal) => put(ctx.space, arg, terminal.termios)],
  [Request.TCSETS, setTermios],
  [Request.TCSETSW, setTermios],
  [Request.TCSETSF, setTermios],
  [Request.TIOCGWINSZ, ({ ctx, arg }, terminal) => put(ctx.space, arg, windowSize(terminal))],
  [Request.TIOCSWINSZ, setWindowSize],
  [Request.TIOCGPGRP, ({ ctx, arg }) => put(ctx.space, arg, word32(ctx.task.group.pgid))],
  [Request.TIOCGSID, ({ ctx, arg }) => put(ctx.space, arg, word32(ctx.task.group.sid))],
  // The one process group there is stays in the foreground.
  [Request.TIOCSPGRP, ({ ctx, arg }) => (get(ctx.space, arg, 4) === undefined ? 'EFAULT' : 0)],
]);

const closeOnExec =
  (value: boolean): Handler =>
  ({ ctx, fd }) => {
    ctx.files.setCloseOnExec(fd, value);
    return 0;
  };

const fionbio: Handler = ({ ctx, description, arg }) => {
  const on = get(ctx.space, arg, 4);
  if (on === undefined) return 'EFAULT';
  description.flags &= ~O.NONBLOCK;
  if (on.getInt32(0, true) !== 0) description.flags |= O.NONBLOCK;
  return 0;
};

const fionread: Handler = ({ ctx, description: { file, position }, arg }) => {
  const isFile = file.attributes().kind === 'file';
  const available = isFile ? Number(file.size() - position) : file.available?.();
  return available === undefined ? 'ENOTTY' : put(ctx.space, arg, word32(available));
};

/** What concerns the descriptor, whatever the file is. */
const DESCRIPTOR: ReadonlyMap<number, Handler> = new Map([
  [Request.FIOCLEX, closeOnExec(true)],
  [Request.FIONCLEX, closeOnExec(false)],
  [Request.FIONBIO, fionbio],
]);

/** What any file answers that has no requests of its own. */
const ANY: ReadonlyMap<number, Handler> = new Map([...DESCRIPTOR, [Request.FIONREAD, fionread]]);

const ioctl = answering((ctx, [fdArg, requestArg, arg]) => {
  const fd = asInt(fdArg);
  const description = descriptor(ctx, fd);
  if (description === undefined) return 'EBADF';
  const request = asUint(requestArg);
  const call: IoctlCall = { ctx, fd, description, arg };
  const { file } = description;
  if (file.ioctl !== undefined && !DESCRIPTOR.has(request))
    return file.ioctl(ctx.task, request, arg);
  const { terminal } = file;
  const forTerminal = terminal === undefined ? undefined : TERMINAL.get(request);
  if (forTerminal !== undefined && terminal !== undefined) return forTerminal(call, terminal);
  return (ANY.get(request) ?? (() => 'ENOTTY'))(call);
});

export const IOCTL_ROWS: readonly SyscallRow[] = [
  partial(
    'ioctl',
    'window size, termios (kept for the guest, not passed on to the host), process group, FIONREAD, FIONBIO, FIOCLEX',
    ioctl,
  ),
];
