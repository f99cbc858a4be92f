import type { HookList } from './hook-list.ts';
import { type Delivery, deliverSignal, restartUnhandled } from './signals/deliver.ts';
import { hasDeliverable } from './signals/queue.ts';
import type { Task } from './task.ts';

/** What the way back to user code needs of the kernel. */
export interface ExitServices extends Delivery {
  readonly hooks: HookList;
  fatalSignalPending(task: Task): boolean;
}

/**
 * exit_to_user_mode_loop: everything that must happen before the task's next instruction, until
 * nothing is left to do. The task may have exited or stopped afterwards.
 * Preconditions: the task is current.
 */
export const exitToUser = (kernel: ExitServices, task: Task): void => {
  let handled = false;
  while (task.state.kind === 'running') {
    if (task.notifyResume) {
      task.notifyResume = false;
      kernel.hooks.returnToUser(task);
      continue;
    }
    const { exit } = task.group;
    if (exit === null && !hasDeliverable(task)) break;
    const fatal = kernel.fatalSignalPending(task);
    if (!kernel.hooks.maySignal(task, fatal)) {
      if (task.notifyResume) continue;
      if (!fatal) break;
    }
    if (exit !== null) {
      if (exit.kind === 'signal') kernel.delivered(exit.signal);
      kernel.exitGroup(task, exit);
    } else handled = deliverSignal(task, kernel) || handled;
  }
  // A stopped task comes here again when it continues.
  if (task.state.kind !== 'running') return;
  if (!handled && task.syscall >= 0) leaveSyscall(task);
  task.syscall = -1;
};

/** No handler runs: an interrupted call starts over, the mask of rt_sigsuspend goes. */
const leaveSyscall = (task: Task): void => {
  restartUnhandled(task);
  if (task.savedBlocked === null) return;
  task.blocked = task.savedBlocked;
  task.savedBlocked = null;
};
