import { ProcessSettings } from './process-settings.ts';
import { PendingSignals } from './signals/pending.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Task } from './task.ts';

/** Ids of a process; the first task has tid = pid. */
export interface ProcessIds {
  /** Default 1000. */
  readonly pid?: number;
  /** Default 1. */
  readonly ppid?: number;
  /** User and group, real = effective = saved; default 1000. */
  readonly uid?: number;
  readonly gid?: number;
}

/** How a process ended: by exit(2), or by a signal. */
export type ExitReason =
  | { readonly kind: 'exit'; readonly status: number }
  | { readonly kind: 'signal'; readonly signal: number; readonly coreDumped: boolean };

/** What {@link ThreadGroup.capture} returns. */
export interface ThreadGroupState {
  readonly pending: readonly SignalInfo[];
  readonly fields: Pick<ThreadGroup, 'threads' | 'exit'>;
  readonly settings: unknown;
}

/** The thread group (signal_struct): what all threads of a process share besides memory and files. */
export class ThreadGroup {
  readonly tgid: number;
  readonly ppid: number;
  /** Process group and session: the process leads both. */
  readonly pgid: number;
  readonly sid: number;
  readonly uid: number;
  readonly gid: number;
  /** Live threads, oldest first. */
  threads: readonly Task[] = [];
  /** Signals sent to the process, for whichever thread takes them. */
  readonly pending = new PendingSignals();
  /** Limits and the like, which system calls set and read back. */
  readonly settings = new ProcessSettings();
  /** Set once, by the first thread that ends the whole group. */
  exit: ExitReason | null = null;

  constructor(ids: ProcessIds = {}) {
    this.tgid = ids.pid ?? 1000;
    this.ppid = ids.ppid ?? 1;
    this.pgid = this.tgid;
    this.sid = this.tgid;
    this.uid = ids.uid ?? 1000;
    this.gid = ids.gid ?? 1000;
  }

  capture(): ThreadGroupState {
    const { threads, exit } = this;
    const settings = this.settings.capture();
    return { pending: this.pending.capture(), fields: { threads, exit }, settings };
  }

  restore({ pending, fields, settings }: ThreadGroupState): void {
    this.pending.restore(pending);
    Object.assign(this, fields);
    this.settings.restore(settings);
  }
}
