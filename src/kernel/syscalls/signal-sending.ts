/** Sending signals. */

import { NSIG, SiCode } from '../../abi/signals.ts';
import type { Task } from '../task.ts';
import { type Answer, answering } from './answer.ts';
import { asInt, full, type SyscallContext, type SyscallRow } from './table.ts';

/** si_pid and si_uid of the sender. */
const sender = ({ group }: Task) => ({ pid: group.tgid, uid: group.uid });

/** Signal 0 only asks whether the target is there. */
const checked = (signal: number, send: () => void): Answer => {
  if (signal < 0 || signal > NSIG) return 'EINVAL';
  if (signal !== 0) send();
  return null;
};

/** The processes kill(2) means, each by its first thread. */
const targets = ({ kernel, task }: SyscallContext, pid: number): readonly Task[] => {
  const leaders = kernel.tasks().filter((one) => one.group.threads[0] === one);
  if (pid > 0) return leaders.filter(({ tgid }) => tgid === pid);
  // Everybody except init and the caller.
  if (pid === -1) return leaders.filter(({ tgid }) => tgid > 1 && tgid !== task.tgid);
  const pgid = pid === 0 ? task.group.pgid : -pid;
  return leaders.filter(({ group }) => group.pgid === pgid);
};

const kill = answering((ctx, [pidArg, signalArg]) => {
  const found = targets(ctx, asInt(pidArg));
  if (found.length === 0) return 'ESRCH';
  const signal = asInt(signalArg);
  return checked(signal, () => {
    const info = { signal, code: SiCode.SI_USER, ...sender(ctx.task) };
    for (const target of found) ctx.kernel.sendProcessSignal(target, info);
  });
});

/** tkill and tgkill; `tgid` null = in any process. */
const sendToThread = (
  { kernel, task }: SyscallContext,
  tgid: number | null,
  tid: number,
  signal: number,
): Answer => {
  if (tid <= 0 || (tgid !== null && tgid <= 0)) return 'EINVAL';
  const target = kernel.tasks().find((one) => one.tid === tid);
  if (target === undefined || (tgid !== null && target.tgid !== tgid)) return 'ESRCH';
  return checked(signal, () =>
    kernel.sendSignal(target, { signal, code: SiCode.SI_TKILL, ...sender(task) }),
  );
};

const tkill = answering((ctx, [tid, signal]) => sendToThread(ctx, null, asInt(tid), asInt(signal)));

const tgkill = answering((ctx, [tgid, tid, signal]) =>
  sendToThread(ctx, asInt(tgid), asInt(tid), asInt(signal)),
);

export const SIGNAL_SENDING_ROWS: readonly SyscallRow[] = [
  full('kill', kill),
  full('tkill', tkill),
  full('tgkill', tgkill),
];
