/** Sleeping until a signal comes. */

import { SigInfoLayout } from '../../abi/sigframe.ts';
import { SIGSET_SIZE, UNBLOCKABLE } from '../../abi/signals.ts';
import { view } from '../../base/bytes.ts';
import { writeSigInfo } from '../signals/frame.ts';
import { takeFrom } from '../signals/queue.ts';
import type { SignalInfo } from '../signals/siginfo.ts';
import { type Answer, answering } from './answer.ts';
import { deadlineOf } from './readiness.ts';
import { block, full, type SyscallContext, type SyscallRow } from './table.ts';
import { put } from './user.ts';
import { getTimespec } from './user-time.ts';

const pause = answering(() => block({ kind: 'signal' }, 'ERESTARTNOHAND'));

const rtSigsuspend = answering(({ task, space, waited }, [at, size]) => {
  if (size !== BigInt(SIGSET_SIZE)) return 'EINVAL';
  const set = space.readU64(at);
  if (set === undefined) return 'EFAULT';
  if (waited === null) {
    task.savedBlocked = task.blocked;
    task.blocked = set & ~UNBLOCKABLE;
  }
  return block({ kind: 'signal' }, 'ERESTARTNOHAND');
});

const rtSigtimedwait = answering((ctx, [setAt, infoAt, timeoutAt, size]) => {
  const { task, space } = ctx;
  if (size !== BigInt(SIGSET_SIZE)) return 'EINVAL';
  const asked = space.readU64(setAt);
  if (asked === undefined) return 'EFAULT';
  const timeout = timeoutAt === 0n ? null : getTimespec(space, timeoutAt);
  if (typeof timeout === 'string') return timeout;
  const set = asked & ~UNBLOCKABLE;
  const info = takeFrom(task.pending, set) ?? takeFrom(task.group.pending, set);
  if (info !== null) return taken(ctx, info, infoAt);
  const deadline = deadlineOf(ctx, timeout);
  if (deadline === null) return block({ kind: 'signal' }, 'EINTR', set);
  if (deadline <= ctx.kernel.now()) return 'EAGAIN';
  return block({ kind: 'until', timeNs: deadline }, 'EINTR', set);
});

const taken = ({ space }: SyscallContext, info: SignalInfo, infoAt: bigint): Answer => {
  if (infoAt === 0n) return info.signal;
  const image = new Uint8Array(SigInfoLayout.size);
  writeSigInfo(info, view(image));
  return put(space, infoAt, image) ?? info.signal;
};

export const SIGNAL_WAITING_ROWS: readonly SyscallRow[] = [
  full('pause', pause),
  full('rt_sigsuspend', rtSigsuspend),
  full('rt_sigtimedwait', rtSigtimedwait),
];
