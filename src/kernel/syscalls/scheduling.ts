import { type Answer, always, answering } from './answer.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { put, word32, words } from './user.ts';

const ONE_CPU = 'the machine has one CPU';

const isCaller = ({ task }: SyscallContext, pid: number): boolean =>
  pid === 0 || pid === task.tid || pid === task.tgid;

/** Bytes of the kernel's cpumask: up to 64 CPUs. */
const MASK_SIZE = 8;

const getAffinity = answering((ctx, [pid, size, into]) => {
  const bytes = asUint(size);
  if (bytes < MASK_SIZE || bytes % 8 !== 0) return 'EINVAL';
  if (!isCaller(ctx, asInt(pid))) return 'ESRCH';
  return put(ctx.space, into, words(1n)) ?? MASK_SIZE;
});

const setAffinity = answering((ctx, [pid, size, from]) => {
  const mask = new Uint8Array(Math.min(asUint(size), MASK_SIZE));
  if (ctx.space.read(from, mask) < mask.length) return 'EFAULT';
  if (!isCaller(ctx, asInt(pid))) return 'ESRCH';
  return ((mask[0] ?? 0) & 1) !== 0 ? 0 : 'EINVAL';
});

const getcpu = answering(({ space }, [cpu, node]): Answer => {
  for (const into of [cpu, node])
    if (into !== 0n && put(space, into, word32(0)) !== null) return 'EFAULT';
  return 0;
});

const getScheduler = answering((ctx, [pidArg]): Answer => {
  const pid = asInt(pidArg);
  if (pid < 0) return 'EINVAL';
  return isCaller(ctx, pid) ? 0 : 'ESRCH';
});

const getParam = answering((ctx, [pidArg, into]): Answer => {
  const pid = asInt(pidArg);
  if (pid < 0 || into === 0n) return 'EINVAL';
  return isCaller(ctx, pid) ? put(ctx.space, into, word32(0)) : 'ESRCH';
});

const SCHED_DEADLINE = 6;
const SCHED_EXT = 7;
/** SCHED_NORMAL, BATCH, IDLE: no priorities; FIFO and RR: 1 to 99. */
const priorityOf = (realtime: number) =>
  answering((_ctx, [policyArg]): Answer => {
    const policy = asInt(policyArg);
    if (policy === 1 || policy === 2) return realtime;
    return [0, 3, 5, SCHED_DEADLINE, SCHED_EXT].includes(policy) ? 0 : 'EINVAL';
  });

/** Barriers order nothing here: one CPU, one task. */
const MEMBARRIER_COMMANDS = 0b11111;

const membarrier = answering((_ctx, [commandArg, flags]): Answer => {
  const command = asInt(commandArg);
  if (asUint(flags) !== 0) return 'EINVAL';
  if (command === 0) return MEMBARRIER_COMMANDS;
  const known = (command & (command - 1)) === 0 && (command & MEMBARRIER_COMMANDS) !== 0;
  return known ? 0 : 'EINVAL';
});

/** CPUs and priorities. */
export const SCHEDULING_ROWS: readonly SyscallRow[] = [
  full('sched_yield', always(0)),
  partial('sched_getaffinity', ONE_CPU, getAffinity),
  partial('sched_setaffinity', ONE_CPU, setAffinity),
  partial('getcpu', ONE_CPU, getcpu),
  partial('sched_getscheduler', 'always SCHED_OTHER', getScheduler),
  partial('sched_getparam', 'always priority 0', getParam),
  full('sched_get_priority_max', priorityOf(99)),
  full('sched_get_priority_min', priorityOf(1)),
  partial('membarrier', ONE_CPU, membarrier),
];
