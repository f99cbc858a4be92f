import type { FileDescription } from '../files/file-table.ts';
import { type Answer, answering } from './answer.ts';
import { deadlineOf, eventsOf, Poll, waitForAny } from './readiness.ts';
import { asInt, asUint, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { get, put } from './user.ts';
import { getTimespec } from './user-time.ts';

const SIZE = 8; // struct pollfd: int fd, short events, short revents

/** Asked for or not, these are told. */
const ALWAYS = Poll.ERR | Poll.HUP;

const poll = (
  ctx: SyscallContext,
  address: bigint,
  count: number,
  timeoutNs: bigint | null,
): Answer => {
  if (count > ctx.files.limit) return 'EINVAL';
  const table = get(ctx.space, address, SIZE * count);
  if (table === undefined) return 'EFAULT';
  const deadline = deadlineOf(ctx, timeoutNs);
  const watched: FileDescription[] = [];
  let ready = 0;
  for (let at = 0; at < table.byteLength; at += SIZE) {
    const revents = pollOne(ctx, table.getInt32(at, true), table.getUint16(at + 4, true), watched);
    table.setUint16(at + 6, revents, true);
    if (revents !== 0) ready++;
  }
  const isOver = deadline !== null && ctx.kernel.now() >= deadline;
  if (ready === 0 && !isOver) return waitForAny(ctx, watched, deadline);
  return put(ctx.space, address, new Uint8Array(table.buffer)) ?? ready;
};

const pollOne = (
  { files }: SyscallContext,
  fd: number,
  events: number,
  watched: FileDescription[],
): number => {
  if (fd < 0) return 0;
  const description = files.get(fd);
  if (description === undefined || description.isPath) return Poll.NVAL;
  if ((events & Poll.IN) !== 0) watched.push(description);
  return eventsOf(description) & (events | ALWAYS);
};

/** Milliseconds as poll(2) has them: negative = for ever. */
const fromMilliseconds = (timeout: number): bigint | null =>
  timeout < 0 ? null : BigInt(timeout) * 1_000_000n;

const ppoll = answering((ctx, [address, count, timeoutAddress]) => {
  const timeout = timeoutAddress === 0n ? null : getTimespec(ctx.space, timeoutAddress);
  return typeof timeout === 'string' ? timeout : poll(ctx, address, asUint(count), timeout);
});

export const POLL_ROWS: readonly SyscallRow[] = [
  partial(
    'poll',
    'stdin is awaited without a time limit',
    answering((ctx, [address, count, timeout]) =>
      poll(ctx, address, asUint(count), fromMilliseconds(asInt(timeout))),
    ),
  ),
  partial('ppoll', 'as poll; the signal mask is not switched', ppoll),
];
