import type { ErrnoName } from '../../abi/errno.ts';
import { type Answer, answering } from './answer.ts';
import {
  asUint,
  block,
  partial,
  type SyscallArgs,
  type SyscallContext,
  type SyscallRow,
} from './table.ts';
import { accessOk, get } from './user.ts';
import { getTimespec } from './user-time.ts';

const Futex = {
  WAIT: 0,
  WAKE: 1,
  REQUEUE: 3,
  CMP_REQUEUE: 4,
  WAIT_BITSET: 9,
  WAKE_BITSET: 10,
  PRIVATE: 128,
  CLOCK_REALTIME: 256,
} as const;

/** get_futex_key: where a futex may lie. A shared one must be mapped. */
const checkKey = (
  { space }: SyscallContext,
  address: bigint,
  shared: boolean,
): ErrnoName | null => {
  if (address % 4n !== 0n) return 'EINVAL';
  if (!accessOk(address, 4n)) return 'EFAULT';
  return shared && get(space, address, 4) === undefined ? 'EFAULT' : null;
};

interface FutexCall {
  readonly ctx: SyscallContext;
  readonly address: bigint;
  readonly value: number;
  readonly timeout: bigint;
  readonly other: bigint;
  readonly value3: number;
  readonly shared: boolean;
  readonly realtime: boolean;
}

/** Monotonic time at which a wait ends, or null for one without timeout. */
const deadline = (call: FutexCall, relative: boolean): bigint | ErrnoName | null => {
  const { ctx, timeout, realtime } = call;
  if (timeout === 0n) return null;
  const span = getTimespec(ctx.space, timeout);
  if (typeof span === 'string') return span;
  if (ctx.waited?.kind === 'until') return ctx.waited.timeNs;
  const { clock } = ctx.kernel;
  if (relative) return clock.monotonicNs() + span;
  return realtime ? span - clock.realtimeNs() + clock.monotonicNs() : span;
};

/** Nobody can wake the only task, so that a wait ends by its timeout or by a signal. */
const wait = (call: FutexCall, bitset: number, relative: boolean): Answer => {
  const { ctx, address, value } = call;
  const until = deadline(call, relative);
  if (typeof until === 'string') return until;
  if (bitset === 0) return 'EINVAL';
  const badKey = checkKey(ctx, address, call.shared);
  if (badKey !== null) return badKey;
  const now = get(ctx.space, address, 4)?.getUint32(0, true);
  if (now === undefined) return 'EFAULT';
  if (now !== value) return 'EAGAIN';
  if (until === null) return block({ kind: 'signal' });
  if (ctx.kernel.now() >= until) return 'ETIMEDOUT';
  return block({ kind: 'until', timeNs: until }, 'ERESTARTNOHAND');
};

const wake = ({ ctx, address, shared }: FutexCall, bitset: number): Answer =>
  bitset === 0 ? 'EINVAL' : (checkKey(ctx, address, shared) ?? 0);

const requeue = ({ ctx, address, other, shared }: FutexCall): Answer =>
  checkKey(ctx, address, shared) ?? checkKey(ctx, other, shared) ?? 0;

const compareAndRequeue = (call: FutexCall): Answer => {
  const badKey = requeue(call);
  if (badKey !== 0) return badKey;
  const now = get(call.ctx.space, call.address, 4)?.getUint32(0, true);
  if (now === undefined) return 'EFAULT';
  return now === call.value3 ? 0 : 'EAGAIN';
};

const ALL_BITS = 0xffffffff;

const OPERATIONS: ReadonlyMap<number, (call: FutexCall) => Answer> = new Map([
  [Futex.WAIT, (call) => wait(call, ALL_BITS, true)],
  [Futex.WAIT_BITSET, (call) => wait(call, call.value3, false)],
  [Futex.WAKE, (call) => wake(call, ALL_BITS)],
  [Futex.WAKE_BITSET, (call) => wake(call, call.value3)],
  [Futex.REQUEUE, requeue],
  [Futex.CMP_REQUEUE, compareAndRequeue],
]);

const futex = answering((ctx, [address, opArg, value, timeout, other, value3]: SyscallArgs) => {
  const op = asUint(opArg);
  const command = op & ~(Futex.PRIVATE | Futex.CLOCK_REALTIME);
  const realtime = (op & Futex.CLOCK_REALTIME) !== 0;
  if (realtime && command !== Futex.WAIT_BITSET) return 'ENOSYS';
  const call: FutexCall = {
    ctx,
    address,
    value: asUint(value),
    timeout,
    other,
    value3: asUint(value3),
    shared: (op & Futex.PRIVATE) === 0,
    realtime,
  };
  return OPERATIONS.get(command)?.(call) ?? 'ENOSYS';
});

export const FUTEX_ROWS: readonly SyscallRow[] = [
  partial('futex', 'one task: nobody waits when it wakes; no PI futexes, no FUTEX_WAKE_OP', futex),
];
