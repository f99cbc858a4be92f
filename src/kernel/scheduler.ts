import type { Task } from './task.ts';

/** Picks who runs: round robin in order of creation, so that runs repeat exactly. */
export class Scheduler {
  #last: Task | null = null;

  /** The next runnable task after the one picked last, or null. */
  pick(tasks: readonly Task[]): Task | null {
    const start = this.#last === null ? 0 : tasks.indexOf(this.#last) + 1;
    for (let i = 0; i < tasks.length; i++) {
      const task = tasks[(start + i) % tasks.length]!;
      if (task.state.kind !== 'running') continue;
      this.#last = task;
      return task;
    }
    return null;
  }

  capture(): Task | null {
    return this.#last;
  }

  restore(last: Task | null): void {
    this.#last = last;
  }
}
