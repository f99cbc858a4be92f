import type { KernelServices } from '../../kernel/kernel.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Task } from '../../kernel/task.ts';
import type { SpecialMapping } from '../../memory/backing.ts';
import type { Profile } from '../profiles.ts';
import type { Hit } from './consumer.ts';
import { newCounters, type UprobeCounters } from './counters.ts';
import { MmState } from './mm-state.ts';
import { Registry } from './registry.ts';
import type { Rules } from './rules.ts';
import { TaskState } from './task-state.ts';
import type { Uprobe } from './uprobe.ts';

/** Where tests may look in; see `testing.ts`. */
export interface TestHooks {
  /** After each single write of program text. */
  textWritten?(write: TextWrite): void;
}

/** One write of program text that has just happened. */
export interface TextWrite {
  readonly mm: Mm;
  /** First address written, and what is there now. */
  readonly address: bigint;
  readonly bytes: Uint8Array;
  /** Address of the probed instruction the write belongs to. */
  readonly site: bigint;
}

/** What all parts of one machine's uprobe layer share. */
export class Shared {
  readonly kernel: KernelServices;
  readonly profile: Profile;
  /** This machine's own table: a fault planted here is in no other machine. */
  readonly rules: Rules;
  readonly registry = new Registry();
  readonly counters: UprobeCounters = newCounters();
  /** The object every handler gets; overwritten by each hit. */
  readonly hit: Hit = { via: 'int3', site: 0n, cookie: null } as Hit;
  /** `[uprobes-trampoline]`; its identity marks the pages. */
  readonly trampolineMapping: SpecialMapping;
  testHooks: TestHooks = {};
  /** Id of the next attachment; the first is 1. */
  nextAttachment = 1;
  readonly #mms = new WeakMap<Mm, MmState>();
  /** The answers of the last look-ups: a hit asks several times. */
  #lastMm: Mm | undefined;
  #lastMmState!: MmState;
  #lastTask: Task | undefined;
  #lastTaskState: TaskState | undefined;
  readonly #warned = new Set<string>();
  readonly #tasks = new WeakMap<Task, TaskState>();

  constructor(kernel: KernelServices, profile: Profile, rules: Rules) {
    this.kernel = kernel;
    this.profile = profile;
    this.rules = { ...rules };
    this.trampolineMapping = {
      name: '[uprobes-trampoline]',
      copiedOnFork: profile.trampolineCopiedOnFork,
    };
  }

  /** State of an mm, made on demand. */
  mmState(mm: Mm): MmState {
    if (mm === this.#lastMm) return this.#lastMmState;
    let state = this.#mms.get(mm);
    if (state === undefined) {
      state = new MmState(mm);
      this.#mms.set(mm, state);
    }
    this.#lastMm = mm;
    this.#lastMmState = state;
    return state;
  }

  /** State of a task that had a hit. */
  findTaskState(task: Task): TaskState | undefined {
    if (task === this.#lastTask) return this.#lastTaskState;
    const state = this.#tasks.get(task);
    this.#lastTask = task;
    this.#lastTaskState = state;
    return state;
  }

  /** State of a task, made on demand. */
  taskState(task: Task): TaskState {
    let state = this.findTaskState(task);
    if (state === undefined) {
      state = new TaskState();
      this.#tasks.set(task, state);
      this.#lastTaskState = state;
    }
    return state;
  }

  /** put_uprobe: the last reference takes the uprobe out of the registry. */
  release(uprobe: Uprobe): void {
    uprobe.references--;
    if (uprobe.references > 0) return;
    this.registry.remove(uprobe);
    for (const mm of this.kernel.mms()) this.#mms.get(mm)?.pendingCounters.delete(uprobe);
  }

  dropTaskState(task: Task): void {
    this.#tasks.delete(task);
    this.#lastTask = undefined;
  }

  /** One log line for a message that a program could repeat for ever. */
  warnOnce(line: string): void {
    if (this.#warned.has(line)) return;
    this.#warned.add(line);
    this.kernel.log(line);
  }
}
