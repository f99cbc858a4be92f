import type { ErrnoName } from '../../abi/errno.ts';
import type { FileDescription } from '../files/file-table.ts';
import { type Answer, answering } from './answer.ts';
import { deadlineOf, eventsOf, Poll, waitForAny } from './readiness.ts';
import { asInt, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { put } from './user.ts';
import { getTimespec, getTimeval } from './user-time.ts';

/** One of the three sets: where it lies, its bits, and what puts a descriptor into the answer. */
interface FdSet {
  readonly address: bigint;
  readonly bits: Uint8Array;
  readonly answer: Uint8Array;
  readonly events: number;
}

/** POLLIN_SET, POLLOUT_SET, POLLEX_SET of fs/select.c. */
const EVENTS = [
  Poll.RDNORM | Poll.IN | Poll.HUP | Poll.ERR,
  Poll.WRNORM | Poll.OUT | Poll.ERR,
  Poll.PRI,
];

const has = (bits: Uint8Array, fd: number): boolean => ((bits[fd >> 3] ?? 0) >> (fd & 7)) % 2 === 1;

const readSets = (
  { space }: SyscallContext,
  addresses: readonly bigint[],
  count: number,
): FdSet[] | 'EFAULT' => {
  // Sets are whole words of 64 bits.
  const size = 8 * Math.ceil(count / 64);
  const sets: FdSet[] = [];
  for (const [i, address] of addresses.entries()) {
    if (address === 0n) continue;
    const bits = new Uint8Array(size);
    if (space.read(address, bits) < size) return 'EFAULT';
    sets.push({ address, bits, answer: new Uint8Array(size), events: EVENTS[i]! });
  }
  return sets;
};

/** Fills the answers; how many bits are set in all. */
const scan = (
  { files }: SyscallContext,
  sets: readonly FdSet[],
  count: number,
  watched: FileDescription[],
): number | ErrnoName => {
  let ready = 0;
  for (let fd = 0; fd < count; fd++) {
    const asked = sets.filter(({ bits }) => has(bits, fd));
    if (asked.length === 0) continue;
    const description = files.get(fd);
    if (description === undefined || description.isPath) return 'EBADF';
    if (asked.some(({ events }) => (events & Poll.IN) !== 0)) watched.push(description);
    const now = eventsOf(description);
    for (const { answer, events } of asked) {
      if ((now & events) === 0) continue;
      answer[fd >> 3]! |= 1 << (fd & 7);
      ready++;
    }
  }
  return ready;
};

const select = (
  ctx: SyscallContext,
  countArg: bigint,
  addresses: readonly bigint[],
  timeoutNs: bigint | null,
): Answer => {
  const wanted = asInt(countArg);
  if (wanted < 0) return 'EINVAL';
  const count = Math.min(wanted, ctx.files.limit);
  const sets = readSets(ctx, addresses, count);
  if (typeof sets === 'string') return sets;
  const deadline = deadlineOf(ctx, timeoutNs);
  const watched: FileDescription[] = [];
  const ready = scan(ctx, sets, count, watched);
  if (typeof ready === 'string') return ready;
  const isOver = deadline !== null && ctx.kernel.now() >= deadline;
  if (ready === 0 && !isOver) return waitForAny(ctx, watched, deadline);
  for (const { address, answer } of sets)
    if (put(ctx.space, address, answer) !== null) return 'EFAULT';
  return ready;
};

type TimeReader = typeof getTimespec;

const selectWith = (readTime: TimeReader) =>
  answering((ctx, [count, read, write, except, timeoutAddress]) => {
    const timeout = timeoutAddress === 0n ? null : readTime(ctx.space, timeoutAddress);
    return typeof timeout === 'string'
      ? timeout
      : select(ctx, count, [read, write, except], timeout);
  });

const NOTE = 'stdin is awaited without a time limit; the remaining time is not written back';

export const SELECT_ROWS: readonly SyscallRow[] = [
  partial('select', NOTE, selectWith(getTimeval)),
  partial('pselect6', `${NOTE}; the signal mask is not switched`, selectWith(getTimespec)),
];
