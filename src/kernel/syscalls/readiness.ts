import type { FileDescription } from '../files/file-table.ts';
import { type Blocked, block, type SyscallContext } from './table.ts';

/** Bits of poll(2). */
export const Poll = {
  IN: 0x1,
  PRI: 0x2,
  OUT: 0x4,
  ERR: 0x8,
  HUP: 0x10,
  NVAL: 0x20,
  RDNORM: 0x40,
  WRNORM: 0x100,
} as const;

const READABLE = Poll.IN | Poll.RDNORM;
const WRITABLE = Poll.OUT | Poll.WRNORM;

/** What poll says of a description now, whatever was asked for and however it was opened. */
export const eventsOf = ({ file }: FileDescription): number => {
  const now = file.readiness();
  return (
    (now.readable ? READABLE : 0) |
    (now.writable ? WRITABLE : 0) |
    (now.error === true ? Poll.ERR : 0) |
    (now.hangup === true ? Poll.HUP : 0)
  );
};

/** When the wait ends by itself: the deadline of an earlier round, or `timeoutNs` from now. */
export const deadlineOf = (ctx: SyscallContext, timeoutNs: bigint | null): bigint | null => {
  if (ctx.waited?.kind === 'until') return ctx.waited.timeNs;
  return timeoutNs === null ? null : ctx.kernel.now() + timeoutNs;
};

/**
 * The wait of a poll or select that found nothing. Who waits for stdin waits for the host, however
 * short the timeout: the machine's clock cannot tell how long a user takes to type.
 */
export const waitForAny = (
  { files }: SyscallContext,
  watched: readonly FileDescription[],
  deadline: bigint | null,
): Blocked => {
  const { stdin } = files.view.streams;
  if (watched.some(({ file }) => file === stdin))
    return block({ kind: 'host', what: stdin.path }, 'ERESTARTNOHAND');
  const reason =
    deadline === null ? { kind: 'signal' as const } : { kind: 'until' as const, timeNs: deadline };
  return block(reason, 'ERESTARTNOHAND');
};
