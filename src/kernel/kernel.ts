import type { KernelHooks } from './hooks.ts';
import type { Mm } from './mm.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Task } from './task.ts';

/**
 * Handler of a claimed system call. Arguments are in the task's registers; on entry ip is after the
 * `syscall` instruction, cx = ip, r11 = flags. What it returns is put into ax, except `undefined`:
 * then every register stays as the handler left it (the full-register return of the real kernel).
 */
export type ClaimedSyscall = (task: Task) => bigint | undefined;

/** The part of the kernel that the layers above use. */
export interface KernelServices {
  /** Returns a function that ends the subscription. */
  subscribe(hooks: KernelHooks): () => void;
  /** Takes over a system call number that has no row; unclaimed numbers answer ENOSYS. */
  claimSyscall(number: number, name: string, handler: ClaimedSyscall): void;
  /** force_sig_info: delivered even if blocked or ignored (the action is reset to default then). */
  forceSignal(task: Task, info: SignalInfo): void;
  /** send_sig: an ordinary signal. */
  sendSignal(task: Task, info: SignalInfo): void;
  /** A fatal signal is pending for the task. */
  fatalSignalPending(task: Task): boolean;
  /** Every live mm, oldest first. */
  mms(): readonly Mm[];
  tasks(): readonly Task[];
  /** One line for the user (a kernel log line, a call we do not have …). */
  log(line: string): void;
  /** Nanoseconds of the deterministic clock. */
  now(): bigint;
}
