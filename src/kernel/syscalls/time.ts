import { type Answer, answering } from './answer.ts';
import { cpuTimeNs } from './system.ts';
import {
  asInt,
  asUint,
  type Blocked,
  block,
  full,
  partial,
  type SyscallContext,
  type SyscallRow,
} from './table.ts';
import { get, put, words } from './user.ts';
import { getTimespec, NS_PER_SECOND, putTimespec, timespec, timeval } from './user-time.ts';

/** A tick of a kernel with 250 Hz: what the coarse clocks count in. */
const TICK_NS = 4_000_000n;

interface ClockRow {
  readonly read: (ctx: SyscallContext) => bigint;
  readonly resolutionNs: bigint;
  /** clock_nanosleep takes it. */
  readonly sleeps: boolean;
  readonly settable?: true;
}

const monotonic = ({ kernel }: SyscallContext): bigint => kernel.clock.monotonicNs();
const realtime = ({ kernel }: SyscallContext): bigint => kernel.clock.realtimeNs();
const coarse =
  (read: ClockRow['read']): ClockRow['read'] =>
  (ctx) =>
    (read(ctx) / TICK_NS) * TICK_NS;

const fine = (read: ClockRow['read'], sleeps: boolean): ClockRow => ({
  read,
  sleeps,
  resolutionNs: 1n,
});

/** By clockid_t; TAI is UTC, as on a machine nobody has told the leap seconds. */
const CLOCKS: ReadonlyMap<number, ClockRow> = new Map<number, ClockRow>([
  [0, { ...fine(realtime, true), settable: true }], // CLOCK_REALTIME
  [1, fine(monotonic, true)], // CLOCK_MONOTONIC
  [2, fine(cpuTimeNs, false)], // CLOCK_PROCESS_CPUTIME_ID
  [3, fine(cpuTimeNs, false)], // CLOCK_THREAD_CPUTIME_ID
  [4, fine(monotonic, false)], // CLOCK_MONOTONIC_RAW
  [5, { read: coarse(realtime), sleeps: false, resolutionNs: TICK_NS }], // CLOCK_REALTIME_COARSE
  [6, { read: coarse(monotonic), sleeps: false, resolutionNs: TICK_NS }], // CLOCK_MONOTONIC_COARSE
  [7, fine(monotonic, true)], // CLOCK_BOOTTIME
  [11, fine(realtime, true)], // CLOCK_TAI
]);

const clockGettime = answering((ctx, [id, into]) => {
  const clock = CLOCKS.get(asInt(id));
  return clock === undefined ? 'EINVAL' : put(ctx.space, into, timespec(clock.read(ctx)));
});

const clockGetres = answering(({ space }, [id, into]) => {
  const clock = CLOCKS.get(asInt(id));
  return clock === undefined ? 'EINVAL' : putTimespec(space, into, clock.resolutionNs);
});

const clockSettime = answering(({ space }, [id, from]): Answer => {
  if (CLOCKS.get(asInt(id))?.settable !== true) return 'EINVAL';
  const time = getTimespec(space, from);
  return typeof time === 'string' ? time : 'EPERM';
});

const gettimeofday = answering(({ kernel, space }, [into, zone]): Answer => {
  const now = timeval(kernel.clock.realtimeNs());
  if (into !== 0n && put(space, into, now) !== null) return 'EFAULT';
  return zone === 0n ? 0 : put(space, zone, words(0n));
});

const settimeofday = answering(({ space }, [from]) =>
  from !== 0n && get(space, from, 16) === undefined ? 'EFAULT' : 'EPERM',
);

const time = answering(({ kernel, space }, [into]) => {
  const seconds = kernel.clock.realtimeNs() / NS_PER_SECOND;
  if (into !== 0n && put(space, into, words(seconds)) !== null) return 'EFAULT';
  return seconds;
});

/** Sleeps until the machine's clock shows the deadline; nothing else to do means it goes there. */
const sleepUntil = ({ kernel, waited }: SyscallContext, deadline: bigint): Blocked | 0 => {
  const timeNs = waited?.kind === 'until' ? waited.timeNs : deadline;
  return kernel.now() >= timeNs ? 0 : block({ kind: 'until', timeNs }, 'ERESTARTNOHAND');
};

const nanosleep = answering((ctx, [address]) => {
  const span = getTimespec(ctx.space, address);
  return typeof span === 'string' ? span : sleepUntil(ctx, ctx.kernel.now() + span);
});

const TIMER_ABSTIME = 1;

const clockNanosleep = answering((ctx, [id, flags, address]) => {
  const clock = CLOCKS.get(asInt(id));
  if (clock === undefined) return 'EINVAL';
  if (!clock.sleeps) return 'EOPNOTSUPP';
  const span = getTimespec(ctx.space, address);
  if (typeof span === 'string') return span;
  const absolute = (asUint(flags) & TIMER_ABSTIME) !== 0;
  return sleepUntil(ctx, ctx.kernel.now() + (absolute ? span - clock.read(ctx) : span));
});

const OWN_CLOCK = 'the machine’s own deterministic clock';
const NO_REST = 'the remaining time is not told when a signal ends the sleep';

/** Clocks and sleeping. */
export const TIME_ROWS: readonly SyscallRow[] = [
  partial(
    'clock_gettime',
    `${OWN_CLOCK}; no alarm clocks, no clocks of other processes`,
    clockGettime,
  ),
  full('clock_getres', clockGetres),
  full('clock_settime', clockSettime),
  partial('gettimeofday', OWN_CLOCK, gettimeofday),
  full('settimeofday', settimeofday),
  partial('time', OWN_CLOCK, time),
  partial('nanosleep', NO_REST, nanosleep),
  partial('clock_nanosleep', `${NO_REST}; no sleeping in CPU time`, clockNanosleep),
];
