import { PAGE_SIZE, view } from '../../base/bytes.ts';
import { NS_PER_INSTRUCTION } from '../clock.ts';
import { answering } from './answer.ts';
import { asInt, asUint, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { field, put, words } from './user.ts';
import { NS_PER_SECOND, timeval } from './user-time.ts';

/** What uname(2) says: six fields of 65 bytes. */
const UTSNAME = [
  'Linux',
  'trapline',
  '6.18.0',
  '#1 SMP PREEMPT_DYNAMIC',
  'x86_64',
  '(none)',
] as const;
const UTSNAME_FIELD = 65;

const uname = answering(({ space }, [into]) => {
  const bytes = new Uint8Array(UTSNAME_FIELD * UTSNAME.length);
  UTSNAME.forEach((text, i) => {
    bytes.set(field(text, UTSNAME_FIELD), i * UTSNAME_FIELD);
  });
  return put(space, into, bytes);
});

/** Memory the machine says it has. */
const TOTAL_RAM = 4n << 30n;

const mappedBytes = ({ space }: SyscallContext): bigint =>
  space.vmas().reduce((sum, { start, end }) => sum + (end - start), 0n);

const sysinfo = answering((ctx, [into]) => {
  const bytes = new Uint8Array(112);
  const used = mappedBytes(ctx);
  // uptime, three loads, totalram, freeram, sharedram, bufferram, totalswap, freeswap, procs
  const free = used < TOTAL_RAM ? TOTAL_RAM - used : 0n;
  bytes.set(words(ctx.kernel.now() / NS_PER_SECOND, 0n, 0n, 0n, TOTAL_RAM, free));
  view(bytes).setUint16(80, ctx.kernel.tasks().length, true);
  view(bytes).setUint32(104, 1, true); // mem_unit
  return put(ctx.space, into, bytes);
});

/** CPU time: what was executed, without what sleeping skipped. */
export const cpuTimeNs = ({ mm }: SyscallContext): bigint =>
  BigInt(mm.engine.instructionCount) * NS_PER_INSTRUCTION;

const RUSAGE = { SELF: 0, CHILDREN: -1, THREAD: 1 } as const;

const getrusage = answering((ctx, [whoArg, into]) => {
  const who = asInt(whoArg);
  if (who !== RUSAGE.SELF && who !== RUSAGE.CHILDREN && who !== RUSAGE.THREAD) return 'EINVAL';
  const usage = new Uint8Array(144);
  if (who !== RUSAGE.CHILDREN) {
    const { pagesPopulated, faults } = ctx.space.counters;
    usage.set(timeval(cpuTimeNs(ctx)));
    const peak = (BigInt(pagesPopulated) * PAGE_SIZE) / 1024n;
    view(usage).setBigInt64(32, peak, true); // ru_maxrss
    view(usage).setBigInt64(64, BigInt(faults), true); // ru_minflt
  }
  return put(ctx.space, into, usage);
});

/** USER_HZ. */
const NS_PER_TICK = NS_PER_SECOND / 100n;

const times = answering((ctx, [into]) => {
  const buffer = words(cpuTimeNs(ctx) / NS_PER_TICK, 0n, 0n, 0n);
  if (into !== 0n && put(ctx.space, into, buffer) !== null) return 'EFAULT';
  return ctx.kernel.now() / NS_PER_TICK;
});

const ASK = 0xffffffff;

const personality = answering(({ task: { group } }, [wanted]) => {
  const old = group.settings.personality;
  if (asUint(wanted) !== ASK) group.settings.personality = asUint(wanted);
  return old;
});

/** What the machine and the process are like. */
export const SYSTEM_ROWS: readonly SyscallRow[] = [
  partial('uname', 'names Linux 6.18.0 on a machine called trapline', uname),
  partial('sysinfo', 'uptime, memory and the number of tasks', sysinfo),
  partial('getrusage', 'user time, peak memory and faults', getrusage),
  partial('times', 'user time', times),
  partial('personality', 'kept and read back', personality),
];
