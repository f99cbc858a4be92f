import type { Vma } from '../memory/vma.ts';
import type { KernelHooks } from './hooks.ts';
import type { Mm } from './mm.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Task } from './task.ts';

/** Everybody who subscribed, called in the order of subscription. */
export class HookList implements Required<KernelHooks> {
  /** Replaced, never changed: a listener may come or go while the list is walked. */
  #listeners: readonly KernelHooks[] = [];

  /** Returns a function that ends the subscription. */
  add(hooks: KernelHooks): () => void {
    this.#listeners = [...this.#listeners, hooks];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== hooks);
    };
  }

  breakpoint(task: Task): boolean {
    for (const hooks of this.#listeners) if (hooks.breakpoint?.(task)) return true;
    return false;
  }

  debugTrap(task: Task): boolean {
    for (const hooks of this.#listeners) if (hooks.debugTrap?.(task)) return true;
    return false;
  }

  returnToUser(task: Task): void {
    for (const hooks of this.#listeners) hooks.returnToUser?.(task);
  }

  /** False if anybody wants the signal held back. */
  maySignal(task: Task, fatal: boolean): boolean {
    let may = true;
    for (const hooks of this.#listeners) may = hooks.maySignal?.(task, fatal) !== false && may;
    return may;
  }

  faultSignal(task: Task, info: SignalInfo): void {
    for (const hooks of this.#listeners) hooks.faultSignal?.(task, info);
  }

  vmaMapped(mm: Mm, vma: Vma): void {
    for (const hooks of this.#listeners) hooks.vmaMapped?.(mm, vma);
  }

  vmaUnmapping(mm: Mm, start: bigint, end: bigint): void {
    for (const hooks of this.#listeners) hooks.vmaUnmapping?.(mm, start, end);
  }

  fork(parent: Task, child: Task, sharedMm: boolean): void {
    for (const hooks of this.#listeners) hooks.fork?.(parent, child, sharedMm);
  }

  exec(task: Task): void {
    for (const hooks of this.#listeners) hooks.exec?.(task);
  }

  exit(task: Task): void {
    for (const hooks of this.#listeners) hooks.exit?.(task);
  }
}
