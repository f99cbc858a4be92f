import type { Engine } from '../cpu/engine.ts';
import type { Inode } from '../memory/backing.ts';
import type { ClockOptions } from './clock.ts';
import type { FileTable } from './files/file-table.ts';
import type { SyscallRow, WaitReason } from './syscalls/table.ts';
import type { ExitReason, ProcessIds } from './thread-group.ts';

/** What a kernel is built from. */
export interface KernelOptions {
  /** One engine an mm. */
  readonly createEngine: () => Engine;
  /** The system calls, one array a subject file joined (`syscalls/rows.ts`). */
  readonly syscalls: readonly SyscallRow[];
  /** Seed of `Kernel.random`; default 1. */
  readonly seed?: bigint;
  readonly clock?: ClockOptions;
  /** Where log lines go; default nowhere. */
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

/** Limits of one `Kernel.runSlice`. */
export interface SliceLimits {
  /** Instructions, at most one block more; absent = none. */
  readonly instructions?: number;
  /** Traps and system calls, of which one may cost as much as thousands of instructions; absent = none. */
  readonly traps?: number;
}

/** Why `Kernel.runSlice` returned. */
export type SliceEnd =
  /** No task is left. The reason is that of the first process. */
  | { readonly kind: 'exited'; readonly reason: ExitReason }
  /** All tasks sleep. Call again once what they wait for may have come, or after a signal. */
  | { readonly kind: 'waiting'; readonly reason: WaitReason }
  /** A signal such as SIGSTOP has stopped all tasks; only SIGCONT or SIGKILL help. */
  | { readonly kind: 'stopped'; readonly signal: number }
  /** The limit is used up. */
  | { readonly kind: 'budget' }
  /** The engine lacks an instruction; nothing can go on. */
  | { readonly kind: 'unsupported'; readonly address: bigint; readonly text: string };
