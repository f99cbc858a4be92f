/**
 * Snapshots of the uprobe layer: a function that puts everything back. The kernel restores tasks and
 * mms in place, so the objects stay the keys of our state.
 */

import type { MmState } from './mm-state.ts';
import { copyInstances } from './return-instances.ts';
import type { Shared } from './shared.ts';
import type { TaskState } from './task-state.ts';
import type { Uprobe } from './uprobe.ts';

type Restore = () => void;

const captureUprobe = (shared: Shared, uprobe: Uprobe): Restore => {
  const { attachments, references, analysis, optimiseFailed } = uprobe;
  const missed = attachments.map((attachment) => attachment.missed);
  return () => {
    Object.assign(uprobe, { attachments, references, analysis, optimiseFailed });
    attachments.forEach((attachment, index) => {
      attachment.missed = missed[index] ?? 0;
    });
    shared.registry.insert(uprobe);
  };
};

const captureMm = (state: MmState): Restore => {
  const { hasUprobes, recalc, area, trampolines } = state;
  const pending = [...state.pendingCounters];
  const restoreArea = area?.capture();
  return () => {
    Object.assign(state, { hasUprobes, recalc, area, trampolines });
    state.pendingCounters.clear();
    for (const uprobe of pending) state.pendingCounters.add(uprobe);
    restoreArea?.();
  };
};

const captureTask = (taskState: TaskState): Restore => {
  const { lastArmed, state } = taskState;
  const step = state.kind === 'running' ? state : { ...state };
  const instances = copyInstances(taskState.instances);
  return () => {
    taskState.lastArmed = lastArmed;
    taskState.state = step.kind === 'running' ? step : { ...step };
    taskState.spareStep = null;
    taskState.instances.splice(0, Number.POSITIVE_INFINITY, ...copyInstances(instances));
  };
};

export const captureShared = (shared: Shared): Restore => {
  const { nextAttachment } = shared;
  const counters = { ...shared.counters };
  const uprobes = shared.registry.all().map((uprobe) => captureUprobe(shared, uprobe));
  const mms = shared.kernel.mms().map((mm) => captureMm(shared.mmState(mm)));
  const tasks = shared.kernel.tasks().map((task) => captureTask(shared.taskState(task)));
  return () => {
    shared.nextAttachment = nextAttachment;
    Object.assign(shared.counters, counters);
    shared.registry.clear();
    for (const restore of [...uprobes, ...mms, ...tasks]) restore();
  };
};
