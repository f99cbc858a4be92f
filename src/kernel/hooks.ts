import type { Vma } from '../memory/vma.ts';
import type { Mm } from './mm.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Task } from './task.ts';

/**
 * What the layer above may subscribe to. The kernel layer knows nothing of who listens. All hooks
 * run synchronously, in the order of subscription, with the task current (its registers live in
 * `task.regs`) unless said otherwise.
 */
export interface KernelHooks {
  /**
   * A breakpoint trap (CC or CD 03); ip is after it. True = swallowed: no SIGTRAP. Heavy work
   * belongs into `returnToUser`: set `task.notifyResume` and return.
   */
  breakpoint?(task: Task): boolean;
  /** A debug (single-step) trap. True = swallowed. */
  debugTrap?(task: Task): boolean;
  /** Before the task goes back to user code, only if `task.notifyResume` was set (it is cleared first). Runs before signals are looked at. */
  returnToUser?(task: Task): void;
  /**
   * Asked before a pending signal is delivered; false holds all non-fatal signals back for now.
   * `fatal` = the pending signal will end the task.
   */
  maySignal?(task: Task, fatal: boolean): boolean;
  /** A trap is about to become a forced signal; the listener may rewrite `info.address` and `task.trapNumber`. */
  faultSignal?(task: Task, info: SignalInfo): void;
  /** A vma appeared or changed (mmap, mprotect, brk, loader). The mm need not be current. */
  vmaMapped?(mm: Mm, vma: Vma): void;
  vmaUnmapping?(mm: Mm, start: bigint, end: bigint): void;
  /** Called when `child` exists and before it first runs. */
  fork?(parent: Task, child: Task, sharedMm: boolean): void;
  /** The old mm is gone, the new one is empty. */
  exec?(task: Task): void;
  exit?(task: Task): void;
}
