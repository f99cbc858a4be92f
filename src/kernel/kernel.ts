import type { Engine } from '../cpu/engine.ts';
import type { AddressSpaceOptions } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';
import type { Clock, ClockOptions } from './clock.ts';
import type { KernelCounters } from './counters.ts';
import type { FileTable } from './files/file-table.ts';
import type { KernelHooks } from './hooks.ts';
import type { Mm } from './mm.ts';
import type { Random } from './random.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { SyscallRow, WaitReason } from './syscalls/table.ts';
import type { Task } from './task.ts';
import type { ExitReason, ProcessIds } from './thread-group.ts';

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

/** What a kernel is built from. */
export interface KernelOptions {
  /** One engine an mm. */
  readonly createEngine: () => Engine;
  /** The system calls, one array a subject file joined (`syscalls/rows.ts`). */
  readonly syscalls: readonly SyscallRow[];
  /** Seed of {@link Kernel.random}; default 1. */
  readonly seed?: bigint;
  readonly clock?: ClockOptions;
  /** Where {@link KernelServices.log} lines go; default nowhere. */
  readonly log?: (line: string) => void;
}

/** A program that the loader has put into an address space. */
export interface ProgramImage {
  /** First ip: the program's entry, or its interpreter's. */
  readonly entry: bigint;
  /** First sp: argc lies there. */
  readonly stackPointer: bigint;
  /** Where the heap begins. */
  readonly brkStart: bigint;
  readonly exe: Inode;
  readonly auxv: Uint8Array;
}

/** How a process starts. */
export interface ProcessOptions {
  readonly image: ProgramImage;
  readonly files: FileTable;
  readonly comm: string;
  readonly ids?: ProcessIds;
}

/** Limits of one {@link Kernel.runSlice}. */
export interface SliceLimits {
  /** Instructions, at most one block more; absent = none. */
  readonly instructions?: number;
}

/** Why {@link Kernel.runSlice} returned. */
export type SliceEnd =
  /** No task is left. */
  | { readonly kind: 'exited'; readonly reason: ExitReason }
  /** All tasks sleep. Call again once what they wait for may have come, or after a signal. */
  | { readonly kind: 'waiting'; readonly reason: WaitReason }
  /** All tasks are stopped by a signal such as SIGSTOP; only SIGCONT or SIGKILL help. */
  | { readonly kind: 'stopped'; readonly signal: number }
  /** The limit is used up. */
  | { readonly kind: 'budget' }
  /** The engine lacks an instruction; nothing can go on. */
  | { readonly kind: 'unsupported'; readonly address: bigint; readonly text: string };

/** Tasks and time of one machine. Nothing here knows who subscribes to the hooks. */
export declare class Kernel implements KernelServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: KernelCounters;

  constructor(options: KernelOptions);

  /** An empty address space on a new engine; the loader fills it. Its mappings are told to the hooks. */
  createMm(options?: AddressSpaceOptions): Mm;
  /** Makes the first task of a new process in a filled mm. */
  createProcess(mm: Mm, options: ProcessOptions): Task;
  /** Runs until something needs the caller. */
  runSlice(limits?: SliceLimits): SliceEnd;
  /** Ctrl-C: SIGINT to the foreground process. */
  interrupt(): void;
  /** exit(2): ends one thread; the last one ends the process with `status`. */
  exitTask(task: Task, status: number): void;
  /** exit_group(2), or the end by a signal: ends all threads of the process. */
  exitGroup(task: Task, reason: ExitReason): void;

  subscribe(hooks: KernelHooks): () => void;
  claimSyscall(number: number, name: string, handler: ClaimedSyscall): void;
  forceSignal(task: Task, info: SignalInfo): void;
  sendSignal(task: Task, info: SignalInfo): void;
  /** A signal to a process: whichever thread takes it. */
  sendProcessSignal(task: Task, info: SignalInfo): void;
  fatalSignalPending(task: Task): boolean;
  mms(): readonly Mm[];
  tasks(): readonly Task[];
  log(line: string): void;
  now(): bigint;

  /** Tasks, memory, CPU, files, signals, clock and counters; not the subscriptions. */
  capture(): unknown;
  restore(state: unknown): void;
}
