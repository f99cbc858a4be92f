/** Sending signals (send_signal_locked, force_sig_info). */

import { defaultAction, SIG_DFL, SIG_IGN, Sig, sigBit } from '../../abi/signals.ts';
import { RUNNING, type Task } from '../task.ts';
import type { PendingSignals } from './pending.ts';
import { prepareSignal } from './queue.ts';
import type { SignalInfo } from './siginfo.ts';

/** To one thread. */
export const sendToTask = (task: Task, info: SignalInfo): void => send(task, task.pending, info);

/** To a process; `task` is any thread of it. */
export const sendToGroup = (task: Task, info: SignalInfo): void =>
  send(task, task.group.pending, info);

/** Delivered even if blocked or ignored: the action becomes the default one then. */
export const forceSignal = (task: Task, info: SignalInfo): void => {
  const bit = sigBit(info.signal);
  const action = task.actions.get(info.signal);
  const isBlocked = (task.blocked & bit) !== 0n;
  if (isBlocked || action.handler === SIG_IGN)
    task.actions.set(info.signal, { ...action, handler: SIG_DFL });
  task.blocked &= ~bit;
  send(task, task.pending, info);
};

/** As {@link forceSignal}, and no handler may catch it (force_fatal_sig). */
export const forceFatalSignal = (task: Task, info: SignalInfo): void => {
  const action = task.actions.get(info.signal);
  task.actions.set(info.signal, { ...action, handler: SIG_DFL });
  forceSignal(task, info);
};

const send = (task: Task, queue: PendingSignals, info: SignalInfo): void => {
  const { signal } = info;
  if (task.exited) return;
  if (signal === Sig.SIGCONT || signal === Sig.SIGKILL) wakeStopped(task);
  if (!prepareSignal(task, signal)) return;
  queue.add(info);
  // complete_signal: a signal that cannot but end the process ends it for all threads at once.
  if (endsAtOnce(task, signal)) task.group.exit ??= { kind: 'signal', signal, coreDumped: false };
};

const wakeStopped = (task: Task): void => {
  for (const thread of task.group.threads)
    if (thread.state.kind === 'stopped') thread.state = RUNNING;
};

const endsAtOnce = (task: Task, signal: number): boolean =>
  (task.blocked & sigBit(signal)) === 0n &&
  task.actions.get(signal).handler === SIG_DFL &&
  defaultAction(signal) === 'term';
