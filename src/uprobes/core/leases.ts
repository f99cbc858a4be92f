/**
 * A return instance holds its uprobe on a lease, not by a reference (spec section 4.8). When a lease
 * ends it becomes a reference if the uprobe still has any; otherwise the instance has none left.
 */
import type { Task } from '../../kernel/task.ts';
import type { Shared } from './shared.ts';
import type { TaskState } from './task-state.ts';

/** A lease lasts 100 ms after the task's newest arming. */
const LEASE_NS = 100_000_000n;

/** Ends all leases of one task. */
export const settle = (taskState: TaskState): void => {
  for (const instance of taskState.instances) {
    if (!instance.leased) continue;
    instance.leased = false;
    if (instance.uprobe === null) continue;
    if (instance.uprobe.references > 0) instance.uprobe.references++;
    else instance.uprobe = null;
  }
};

const forEachState = (shared: Shared, visit: (state: TaskState, task: Task) => void): void => {
  for (const task of shared.kernel.tasks()) {
    const state = shared.findTaskState(task);
    if (state !== undefined) visit(state, task);
  }
};

/** Ends the leases whose time is over. */
export const settleExpired = (shared: Shared): void => {
  const now = shared.kernel.now();
  forEachState(shared, (state) => {
    if (now - state.lastArmed >= LEASE_NS) settle(state);
  });
};

/** An unregistration waits until no lease is open. */
export const settleAll = (shared: Shared): void => forEachState(shared, settle);
