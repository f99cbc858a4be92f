import { fail } from '../abi/errno.ts';
import { Reg } from '../cpu/engine.ts';
import type { Clock } from './clock.ts';
import { hasDeliverable } from './signals/queue.ts';
import type { Dispatcher } from './syscalls/dispatch.ts';
import type { WaitReason } from './syscalls/table.ts';
import { RUNNING, type Sleep, type Task } from './task.ts';

/** What waking needs of the kernel. */
export interface SleeperServices {
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  makeCurrent(task: Task): void;
}

const sleepOf = ({ state }: Task): Sleep | null => (state.kind === 'sleeping' ? state.sleep : null);

/**
 * Lets every sleeper go on that can. Returns whether one became runnable.
 * @param hostMayBeReady who waits for the host tries again
 */
export const wakeSleepers = (
  kernel: SleeperServices,
  tasks: readonly Task[],
  hostMayBeReady: boolean,
): boolean => {
  let woken = false;
  for (const task of tasks) {
    const sleep = sleepOf(task);
    if (sleep !== null) woken = wake(kernel, task, sleep, hostMayBeReady) || woken;
  }
  return woken;
};

const wake = (
  kernel: SleeperServices,
  task: Task,
  sleep: Sleep,
  hostMayBeReady: boolean,
): boolean => {
  const accepted = ((task.pending.mask | task.group.pending.mask) & sleep.accepts) !== 0n;
  if (!accepted && (hasDeliverable(task) || task.group.exit !== null)) {
    interrupt(kernel, task, sleep);
    return true;
  }
  const over = isOver(sleep.reason, kernel.clock, hostMayBeReady);
  if (!accepted && !over) return false;
  kernel.makeCurrent(task);
  return kernel.dispatcher.again(task);
};

const isOver = (reason: WaitReason, clock: Clock, hostMayBeReady: boolean): boolean => {
  if (reason.kind === 'until') return clock.monotonicNs() >= reason.timeNs;
  return reason.kind === 'host' && hostMayBeReady;
};

/** The signal code decides what becomes of the call, as it does for one just made. */
const interrupt = (kernel: SleeperServices, task: Task, sleep: Sleep): void => {
  kernel.makeCurrent(task);
  task.regs.write(Reg.Rax, fail(sleep.interrupted));
  task.syscall = sleep.syscall;
  task.state = RUNNING;
};

/** The earliest time somebody waits for, or null. */
export const earliestDeadline = (tasks: readonly Task[]): bigint | null => {
  let earliest: bigint | null = null;
  for (const task of tasks) {
    const reason = sleepOf(task)?.reason;
    if (reason?.kind === 'until' && (earliest === null || reason.timeNs < earliest))
      earliest = reason.timeNs;
  }
  return earliest;
};

/** What the caller must know of the waits: the host's part comes first. */
export const mainReason = (tasks: readonly Task[]): WaitReason | null => {
  const reasons = tasks.flatMap((task) => sleepOf(task)?.reason ?? []);
  return reasons.find(({ kind }) => kind === 'host') ?? reasons[0] ?? null;
};
