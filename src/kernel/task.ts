import type { CpuContext, RegisterFile } from '../cpu/engine.ts';
import type { FileTable } from './files/file-table.ts';
import type { Mm } from './mm.ts';
import { ThreadSettings } from './process-settings.ts';
import type { SignalActions } from './signals/actions.ts';
import { AltStack, type AltStackState } from './signals/alt-stack.ts';
import { PendingSignals } from './signals/pending.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Interrupted, WaitReason } from './syscalls/table.ts';
import type { ThreadGroup } from './thread-group.ts';

/** A system call that sleeps: which, on what, and what a signal makes of it. */
export interface Sleep {
  readonly syscall: number;
  readonly reason: WaitReason;
  readonly interrupted: Interrupted;
  /** Signals that make the row run again instead of interrupting it (rt_sigtimedwait). */
  readonly accepts: bigint;
}

/**
 * ```
 * running --row answers Blocked--> sleeping --row runs again, or a signal--> running
 * running --default action stop--> stopped --SIGCONT or SIGKILL--> running
 * any     --exit, fatal signal--> exited
 * ```
 */
export type TaskState =
  | { readonly kind: 'running' }
  | { readonly kind: 'sleeping'; readonly sleep: Sleep }
  | { readonly kind: 'stopped'; readonly signal: number }
  | { readonly kind: 'exited' };

export const RUNNING: TaskState = { kind: 'running' };
export const EXITED: TaskState = { kind: 'exited' };

/** What a task is made of; clone(2) decides which parts are shared. */
export interface TaskParts {
  readonly tid: number;
  readonly comm: string;
  readonly group: ThreadGroup;
  readonly mm: Mm;
  readonly files: FileTable;
  readonly actions: SignalActions;
}

/** What {@link Task.capture} returns. */
export interface TaskSnapshot {
  /** Own fields; those that are objects with state restore in place. */
  readonly fields: Readonly<Partial<Task>>;
  readonly pending: readonly SignalInfo[];
  readonly altStack: AltStackState;
  readonly settings: unknown;
}

/** task_struct: one thread. */
export class Task {
  /** Thread id; equals `tgid` for the first thread. */
  readonly tid: number;
  /** The thread group. */
  readonly group: ThreadGroup;
  /** At most 15 characters. */
  comm: string;
  mm: Mm;
  files: FileTable;
  actions: SignalActions;
  state: TaskState = RUNNING;
  /** Makes the kernel call `returnToUser` before user code runs again. */
  notifyResume = false;
  /** thread.trap_nr, thread.error_code and thread.cr2: what a signal frame reports. */
  trapNumber = 0n;
  errorCode = 0n;
  cr2 = 0n;
  /** EFLAGS.RF as the last trap pushed it: set by faults, shown in signal frames only. */
  resumeFlag = 0n;
  /** orig_ax: the system call the task came in with, or -1 when it must not be restarted. */
  syscall = -1;
  /** Blocked signals. */
  blocked = 0n;
  /** Mask that rt_sigsuspend put aside, to be restored after the handler; null outside of it. */
  savedBlocked: bigint | null = null;
  /** Signals for this thread alone. */
  readonly pending = new PendingSignals();
  readonly altStack = new AltStack();
  /** Addresses the thread has left with the kernel. */
  readonly settings = new ThreadSettings();
  /** Address set_tid_address(2) left. */
  clearChildTid = 0n;
  /** CPU state while another task runs on the engine; null while it is loaded there. */
  context: CpuContext | null = null;

  constructor(parts: TaskParts) {
    this.tid = parts.tid;
    this.group = parts.group;
    this.comm = parts.comm;
    this.mm = parts.mm;
    this.files = parts.files;
    this.actions = parts.actions;
  }

  /** ThreadGroup id. */
  get tgid(): number {
    return this.group.tgid;
  }

  /** Live registers. Preconditions: the task is current. */
  get regs(): RegisterFile {
    return this.mm.engine.regs;
  }

  get exited(): boolean {
    return this.state.kind === 'exited';
  }

  /** What of the object itself changes; files, actions, mm and group capture themselves. */
  capture(): TaskSnapshot {
    return {
      fields: { ...this },
      pending: this.pending.capture(),
      altStack: this.altStack.capture(),
      settings: this.settings.capture(),
    };
  }

  restore({ fields, pending, altStack, settings }: TaskSnapshot): void {
    Object.assign(this, fields);
    this.pending.restore(pending);
    this.altStack.restore(altStack);
    this.settings.restore(settings);
  }
}
