import { PendingSignals } from './signals/pending.ts';

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

/** The thread group (signal_struct): what all threads of a process share besides memory and files. */
export class ThreadGroup {
  readonly tgid: number;
  readonly ppid: number;
  /** Process group and session: the process leads both. */
  readonly pgid: number;
  readonly sid: number;
  readonly uid: number;
  readonly gid: number;
  /** Signals sent to the process, for whichever thread takes them. */
  readonly pending = new PendingSignals();
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
}
