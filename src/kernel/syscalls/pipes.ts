import { O } from '../../abi/fcntl.ts';
import { FileDescription } from '../files/file-table.ts';
import { type Answer, answering } from './answer.ts';
import { asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { words } from './user.ts';

const pipeWith = ({ files, space }: SyscallContext, address: bigint, flags: number): Answer => {
  if ((flags & ~(O.CLOEXEC | O.NONBLOCK | O.DIRECT)) !== 0) return 'EINVAL';
  const { reader, writer } = files.view.pipe();
  const status = flags & O.NONBLOCK;
  const closeOnExec = (flags & O.CLOEXEC) !== 0;
  const readFd = files.install(new FileDescription(reader, O.RDONLY | status), 0, closeOnExec);
  if (typeof readFd === 'string') return readFd;
  const writeFd = files.install(new FileDescription(writer, O.WRONLY | status), 0, closeOnExec);
  if (typeof writeFd === 'string') {
    files.close(readFd);
    return writeFd;
  }
  const pair = words((BigInt(writeFd) << 32n) | BigInt(readFd));
  if (space.write(address, pair) === pair.length) return 0;
  files.close(readFd);
  files.close(writeFd);
  return 'EFAULT';
};

export const PIPE_ROWS: readonly SyscallRow[] = [
  full(
    'pipe',
    answering((ctx, [address]) => pipeWith(ctx, address, 0)),
  ),
  partial(
    'pipe2',
    'O_DIRECT makes no packets',
    answering((ctx, [address, flags]) => pipeWith(ctx, address, asUint(flags))),
  ),
];
