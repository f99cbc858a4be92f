import type { RegisterFile } from '../cpu/engine.ts';
import type { Mm } from './mm.ts';

/** task_struct: one thread. */
export declare class Task {
  /** Thread id; equals `tgid` for the first thread. */
  readonly tid: number;
  /** Process id. */
  readonly tgid: number;
  /** At most 15 characters. */
  comm: string;
  mm: Mm;
  /** Live registers. Preconditions: the task is current. */
  readonly regs: RegisterFile;
  /** TIF_UPROBE's place: makes the kernel call `returnToUser` before user code runs again. */
  notifyResume: boolean;
  /** thread.trap_nr and thread.error_code: what a signal frame reports. */
  trapNumber: bigint;
  errorCode: bigint;
  readonly exited: boolean;
}
