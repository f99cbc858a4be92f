import { type ErrnoName, fail } from '../../abi/errno.ts';
import { Sys, type SyscallName } from '../../abi/syscalls.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import type { FileTable } from '../files/file-table.ts';
import type { Kernel } from '../kernel.ts';
import type { Mm } from '../mm.ts';
import type { Task } from '../task.ts';

/** What a task sleeps on inside a system call. */
export type WaitReason =
  /** The host must do something first, such as deliver bytes on stdin; the machine awaits it. */
  | { readonly kind: 'host'; readonly what: string }
  /** Until the deterministic clock reads this; when nobody else can run, the clock jumps there. */
  | { readonly kind: 'until'; readonly timeNs: bigint }
  /** Only a signal ends it (pause, rt_sigsuspend). */
  | { readonly kind: 'signal' };

/** What a signal turns the wait into: an answer, or one of the kernel's restart codes. */
export type Interrupted = Extract<ErrnoName, 'EINTR' | 'ERESTARTSYS' | 'ERESTARTNOHAND'>;

/**
 * The call cannot finish now. The task sleeps and the same row runs again, from its start, when the
 * kernel next gets to it; {@link SyscallContext.waited} then tells what it slept on.
 */
export interface Blocked {
  readonly blocked: WaitReason;
  readonly interrupted: Interrupted;
  /** Signals whose arrival makes the row run again instead of interrupting it. */
  readonly accepts: bigint;
}

/** A row's answer to "cannot finish now". `interrupted` defaults to what read(2) does. */
export const block = (
  blocked: WaitReason,
  interrupted: Interrupted = 'ERESTARTSYS',
  accepts = 0n,
): Blocked => ({ blocked, interrupted, accepts });

/** Who calls. One object per kernel, overwritten by the next call: do not keep it. */
export interface SyscallContext {
  readonly kernel: Kernel;
  readonly task: Task;
  readonly mm: Mm;
  readonly space: AddressSpace;
  readonly files: FileTable;
  /** The row answered {@link Blocked} before and runs again: what it slept on. Null at first. */
  readonly waited: WaitReason | null;
}

/** di, si, dx, r10, r8, r9 as unsigned 64-bit values. */
export type SyscallArgs = readonly [bigint, bigint, bigint, bigint, bigint, bigint];

/**
 * A result >= 0 or `-errno` (`fail('EBADF')`) goes to ax. `undefined` = the handler wrote all
 * registers itself (rt_sigreturn).
 */
export type SyscallResult = bigint | Blocked | undefined;

export type SyscallHandler = (ctx: SyscallContext, args: SyscallArgs) => SyscallResult;

/** `refused`: known, answers ENOSYS, and says so once. */
export type SyscallSupport = 'full' | 'partial' | 'refused';

/** One system call. `note` says what a partial row leaves out, or when a refused one comes. */
export interface SyscallRow {
  readonly number: number;
  readonly name: string;
  readonly handler: SyscallHandler;
  readonly support: SyscallSupport;
  readonly note?: string;
}

/** A row that does what Linux does. */
export const full = (name: SyscallName, handler: SyscallHandler): SyscallRow => ({
  number: Sys[name],
  name,
  handler,
  support: 'full',
});

/** A row that covers a part; `note` says what is missing. */
export const partial = (name: SyscallName, note: string, handler: SyscallHandler): SyscallRow => ({
  number: Sys[name],
  name,
  handler,
  support: 'partial',
  note,
});

/** A row that answers ENOSYS and is named to the user once. */
export const refused = (name: SyscallName, note: string): SyscallRow => ({
  number: Sys[name],
  name,
  handler: () => fail('ENOSYS'),
  support: 'refused',
  note,
});

/** An argument as C's `int`. */
export const asInt = (arg: bigint): number => Number(BigInt.asIntN(32, arg));
/** An argument as C's `unsigned int`. */
export const asUint = (arg: bigint): number => Number(BigInt.asUintN(32, arg));
