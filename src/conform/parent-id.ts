import type { ExecCase } from './exec-table.ts';

/** `mov $110,%eax; syscall`: getppid. */
const GETPPID = /b86e0000000f05/;

/**
 * Who the recorded processes' parent was: only their own getppid tells. Null when no case asks.
 */
export const recordedParent = (cases: readonly ExecCase[]): number | null => {
  const asks = cases.find(({ code }) => GETPPID.test(code));
  return asks?.plain == null ? null : Number(asks.plain.regs.ax);
};
