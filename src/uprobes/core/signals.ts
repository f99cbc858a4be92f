/** Signals that uprobes themselves raise. */
import { SiCode, Sig } from '../../abi/signals.ts';
import type { Task } from '../../kernel/task.ts';
import type { Shared } from './shared.ts';

/** force_sig: the program cannot block or ignore it. */
const force = (shared: Shared, task: Task, signal: number): void =>
  shared.kernel.forceSignal(task, { signal, code: SiCode.SI_KERNEL, address: 0n });

export const forceIll = (shared: Shared, task: Task): void => force(shared, task, Sig.SIGILL);
export const forceSegv = (shared: Shared, task: Task): void => force(shared, task, Sig.SIGSEGV);
export const forceTrap = (shared: Shared, task: Task): void => force(shared, task, Sig.SIGTRAP);

/** For a program that steps itself: an ordinary signal, as if the task had sent it. */
export const sendTrap = (shared: Shared, task: Task): void =>
  shared.kernel.sendSignal(task, {
    signal: Sig.SIGTRAP,
    code: SiCode.SI_USER,
    pid: task.tgid,
    uid: 0,
  });
