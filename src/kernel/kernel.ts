import { SiCode, Sig } from '../abi/signals.ts';
import { type Answer, type Engine, Reg, type Trap } from '../cpu/engine.ts';
import { AddressSpace, type AddressSpaceOptions } from '../memory/address-space.ts';
import { Clock } from './clock.ts';
import { count, KernelCounters } from './counters.ts';
import { exitToUser } from './exit-to-user.ts';
import { HookList } from './hook-list.ts';
import type { KernelHooks } from './hooks.ts';
import type { KernelOptions, ProcessOptions, SliceEnd, SliceLimits } from './kernel-options.ts';
import { Mm } from './mm.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { SignalActions } from './signals/actions.ts';
import { forceSignal, sendToGroup, sendToTask } from './signals/send.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import { earliestDeadline, mainReason, wakeSleepers } from './sleepers.ts';
import { startThread } from './start-thread.ts';
import { captureKernel, type KernelState, restoreParts } from './state.ts';
import { Dispatcher } from './syscalls/dispatch.ts';
import { EXITED, Task } from './task.ts';
import { type ExitReason, ThreadGroup } from './thread-group.ts';
import { TRAP_ROUTINES } from './trap.ts';

export type {
  KernelOptions,
  ProcessOptions,
  ProgramImage,
  SliceEnd,
  SliceLimits,
} from './kernel-options.ts';

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
  /** Takes over a system call number that has no row, or one that refuses; unclaimed ones answer ENOSYS. */
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
  /** Instructions executed so far, on all engines. */
  instructions(): number;
}

const BUDGET: SliceEnd = { kind: 'budget' };

/** Tasks and time of one machine. Nothing here knows who subscribes to the hooks. */
export class Kernel implements KernelServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly counters = new KernelCounters();
  readonly hooks = new HookList();
  readonly dispatcher: Dispatcher;
  readonly #options: KernelOptions;
  readonly #scheduler = new Scheduler();
  /** Of every mm ever made: a snapshot may bring one back. */
  readonly #engines: Engine[] = [];
  #mms: readonly Mm[] = [];
  #tasks: readonly Task[] = [];
  /** The process that was made first: it has the terminal, and its end is the run's. */
  #first: ThreadGroup | null = null;
  #current: Task | null = null;
  /** Set inside a trap when the slice is over. */
  #end: SliceEnd | null = null;
  #failure: { readonly error: unknown } | null = null;
  /** Traps left in this slice. */
  #trapsLeft = 0;
  /** The trap before this one was a system call. */
  #afterSyscall = false;

  constructor(options: KernelOptions) {
    this.#options = options;
    this.clock = new Clock(() => this.instructions(), options.clock);
    this.random = Random.fromSeed(options.seed ?? 1n);
    this.dispatcher = new Dispatcher(this, options.syscalls);
  }

  /** An empty address space on a new engine; the loader fills it. Its mappings are told to the hooks. */
  createMm(options: AddressSpaceOptions = {}): Mm {
    const engine = this.#options.createEngine();
    this.#engines.push(engine);
    const mm = new Mm(engine, new AddressSpace(engine, options));
    mm.space.listener = {
      mapped: (vma) => this.hooks.vmaMapped(mm, vma),
      unmapping: (start, end) => this.hooks.vmaUnmapping(mm, start, end),
    };
    this.#mms = [...this.#mms, mm];
    return mm;
  }

  /** Makes the first task of a new process in a filled mm. */
  createProcess(mm: Mm, { image, files, comm, ids }: ProcessOptions): Task {
    const group = new ThreadGroup(ids);
    this.#first ??= group;
    const actions = new SignalActions();
    const task = new Task({ tid: group.tgid, comm, group, mm, files, actions });
    group.threads = [task];
    this.#tasks = [...this.#tasks, task];
    mm.exe = image.exe;
    mm.brkStart = image.brkStart;
    mm.brk = image.brkStart;
    mm.auxv = image.auxv;
    this.makeCurrent(task);
    startThread(task.regs, image);
    return task;
  }

  /** Runs until something needs the caller. */
  runSlice(limits: SliceLimits = {}): SliceEnd {
    const start = this.instructions();
    this.#trapsLeft = limits.traps ?? Number.POSITIVE_INFINITY;
    wakeSleepers(this, this.#tasks, true);
    for (;;) {
      const task = this.#scheduler.pick(this.#tasks);
      if (task === null) {
        if (wakeSleepers(this, this.#tasks, false) || this.#skipTime()) continue;
        return this.#idleEnd();
      }
      const used = this.instructions() - start;
      if (limits.instructions !== undefined && used >= limits.instructions) return BUDGET;
      const end = this.#runTask(
        task,
        limits.instructions === undefined ? {} : { instructions: limits.instructions - used },
      );
      if (end !== null) return end;
    }
  }

  /** Ctrl-C: SIGINT to the foreground process. */
  interrupt(): void {
    const task = this.#first?.threads[0];
    if (task !== undefined) sendToGroup(task, { signal: Sig.SIGINT, code: SiCode.SI_KERNEL });
  }

  /** exit(2): ends one thread; the last one ends the process with `status`. */
  exitTask(task: Task, status: number): void {
    const { group } = task;
    if (group.threads.length === 1) group.exit ??= { kind: 'exit', status: status & 0xff };
    this.#endTask(task);
  }

  /** exit_group(2), or the end by a signal: ends all threads of the process. */
  exitGroup(task: Task, reason: ExitReason): void {
    task.group.exit ??= reason;
    for (const thread of task.group.threads) this.#endTask(thread);
  }

  subscribe(hooks: KernelHooks): () => void {
    return this.hooks.add(hooks);
  }

  claimSyscall(number: number, name: string, handler: ClaimedSyscall): void {
    this.dispatcher.claim(number, name, handler);
  }

  forceSignal(task: Task, info: SignalInfo): void {
    forceSignal(task, info);
  }

  sendSignal(task: Task, info: SignalInfo): void {
    sendToTask(task, info);
  }

  /** A signal to a process, for whichever of its threads takes it. */
  sendProcessSignal(task: Task, info: SignalInfo): void {
    sendToGroup(task, info);
  }

  fatalSignalPending(task: Task): boolean {
    return task.group.exit !== null;
  }

  mms(): readonly Mm[] {
    return this.#mms;
  }

  tasks(): readonly Task[] {
    return this.#tasks;
  }

  log(line: string): void {
    this.#options.log?.(line);
  }

  now(): bigint {
    return this.clock.monotonicNs();
  }

  /** Instructions executed so far, on all engines, those of ended processes included. */
  instructions(): number {
    let sum = 0;
    for (const engine of this.#engines) sum += engine.instructionCount;
    return sum;
  }

  /** Tasks, memory, CPU, files, signals, clock and counters; not the subscriptions. */
  capture(): unknown {
    const { random, counters, clock } = this;
    // The clock comes last: it counts what the engines have executed.
    const others = [random, counters, this.#scheduler, clock];
    return captureKernel(this.#mms, this.#tasks, this.#current, others);
  }

  /** Preconditions: `state` is from `capture` of this object. */
  restore(state: unknown): void {
    const captured = state as KernelState;
    restoreParts(captured);
    this.#mms = captured.mms;
    this.#tasks = captured.tasks;
    this.#current = captured.current;
  }

  /** Frees the engines; the kernel is unusable afterwards. */
  dispose(): void {
    for (const engine of this.#engines) engine.dispose();
  }

  /** For this layer: a signal reached a handler or its default action. */
  delivered(signal: number): void {
    count(this.counters.signals, signal);
  }

  /** For this layer: puts the task's registers into its mm's engine, unless they are there. */
  makeCurrent(task: Task): void {
    this.#current = task;
    const { mm } = task;
    if (mm.loaded === task) return;
    if (mm.loaded !== null) {
      this.counters.contextSwitches++;
      mm.loaded.context = mm.engine.saveContext();
    }
    if (task.context !== null) mm.engine.loadContext(task.context);
    task.context = null;
    mm.loaded = task;
  }

  #runTask(task: Task, limits: SliceLimits): SliceEnd | null {
    this.makeCurrent(task);
    task.resumeFlag = 0n;
    exitToUser(this, task);
    if (task.state.kind !== 'running') return null;
    this.#end = null;
    this.#failure = null;
    this.#afterSyscall = false;
    task.mm.engine.run(this.#onTrap, limits);
    // Nothing may be thrown through the engine's own frames.
    const failure = this.#failure as { readonly error: unknown } | null;
    if (failure !== null) throw failure.error;
    return this.#end;
  }

  readonly #onTrap = (trap: Trap): Answer => {
    try {
      return this.#trap(trap);
    } catch (error) {
      this.#failure = { error };
      return 'stop';
    }
  };

  #trap(trap: Trap): Answer {
    const task = this.#current!;
    const { kind } = trap;
    this.counters.traps[kind]++;
    if (kind === 'budget') return this.#endSlice(BUDGET);
    if (kind === 'unsupported')
      return this.#endSlice({ kind, address: task.regs.read(Reg.Rip), text: trap.text });
    const afterSyscall = this.#afterSyscall;
    this.#afterSyscall = kind === 'syscall';
    if (kind === 'debug' && afterSyscall && isStepOverSyscall(task)) return 'go';
    task.resumeFlag = 0n;
    if (kind === 'syscall') this.dispatcher.enter(task);
    else TRAP_ROUTINES[kind](this, task, trap);
    exitToUser(this, task);
    if (task.state.kind !== 'running') return 'stop';
    return --this.#trapsLeft > 0 ? 'go' : this.#endSlice(BUDGET);
  }

  #endSlice(end: SliceEnd): Answer {
    this.#end = end;
    return 'stop';
  }

  /** Nobody can run: goes to the next time somebody waits for. False if there is none. */
  #skipTime(): boolean {
    const deadline = earliestDeadline(this.#tasks);
    if (deadline === null) return false;
    this.clock.skipTo(deadline);
    return true;
  }

  #idleEnd(): SliceEnd {
    const reason = mainReason(this.#tasks);
    if (reason !== null) return { kind: 'waiting', reason };
    for (const { state } of this.#tasks)
      if (state.kind === 'stopped') return { kind: 'stopped', signal: state.signal };
    return { kind: 'exited', reason: this.#first?.exit ?? { kind: 'exit', status: 0 } };
  }

  #endTask(task: Task): void {
    this.hooks.exit(task);
    task.state = EXITED;
    const { group, files, mm } = task;
    group.threads = group.threads.filter((other) => other !== task);
    this.#tasks = this.#tasks.filter((other) => other !== task);
    if (!this.#tasks.some((other) => other.files === files)) files.closeAll();
    if (!this.#tasks.some((other) => other.mm === mm))
      this.#mms = this.#mms.filter((other) => other !== mm);
  }
}

/**
 * The CPU clears TF on the way into a system call and executes one more instruction after the way
 * back (IRET, SDM vol. 3, 18.3.1.4): no trap lies between the call and that instruction. An engine
 * reports one, with ip where the call left it.
 */
const isStepOverSyscall = ({ regs }: Task): boolean => regs.read(Reg.Rip) === regs.read(Reg.Rcx);
