/** Snapshots of the kernel: every part captures and restores itself. */

import type { Mm } from './mm.ts';
import type { Task } from './task.ts';

/** A part with state. `restore` takes what `capture` of the same object returned. */
export interface Stateful {
  capture(): unknown;
  restore(state: never): void;
}

/** Who lives, and what each part looked like. */
export interface KernelState {
  readonly mms: readonly Mm[];
  readonly tasks: readonly Task[];
  readonly current: Task | null;
  readonly parts: readonly (readonly [part: Stateful, state: unknown])[];
}

/** @param others parts besides the mms and tasks; restored last, in this order */
export const captureKernel = (
  mms: readonly Mm[],
  tasks: readonly Task[],
  current: Task | null,
  others: readonly Stateful[],
): KernelState => {
  const shared = new Set(tasks.flatMap(({ group, actions, files }) => [group, actions, files]));
  const parts: readonly Stateful[] = [...mms, ...tasks, ...shared, ...others];
  return { mms, tasks, current, parts: parts.map((part) => [part, part.capture()]) };
};

export const restoreParts = ({ parts }: KernelState): void => {
  for (const [part, state] of parts) part.restore(state as never);
};
