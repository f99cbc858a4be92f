import type { Accepted } from '../arch/analysis.ts';
import type { ReturnInstance } from './return-instances.ts';
import type { Uprobe } from './uprobe.ts';

/** No probed instruction is being stepped. */
export interface Running {
  readonly kind: 'running';
}

/**
 * A probed instruction runs in its slot (`stepping`), its trap has come (`stepped`), or it faulted
 * or the task is being killed (`trapped`). One object a task, reused from step to step.
 */
export interface Step {
  kind: 'stepping' | 'stepped' | 'trapped';
  uprobe: Uprobe;
  analysis: Accepted;
  /** Address of the probed instruction. */
  site: bigint;
  /** Index and address of its slot. */
  slot: number;
  slotAddress: bigint;
  /** What the scratch register held. */
  scratchValue: bigint;
  savedTrapNumber: bigint;
  /** TF before the step. */
  savedTf: boolean;
}

export const RUNNING: Running = { kind: 'running' };

/** What uprobes keep about one task; the diagram is in the README. */
export class TaskState {
  state: Running | Step = RUNNING;
  /** Pending returns, newest last. */
  readonly instances: ReturnInstance[] = [];
  /** When the newest return was armed, in nanoseconds; leases run out 100 ms later. */
  lastArmed = 0n;
  /** The step object of this task once it has made one. */
  spareStep: Step | null = null;
}
