/** perf_event_open(2): the checks in Linux's order, then a descriptor. */
import { type ErrnoName, fail } from '../../abi/errno.ts';
import { O } from '../../abi/fcntl.ts';
import { OPEN_FLAGS, OpenFlag, PERF_TYPE_TRACEPOINT } from '../../abi/perf.ts';
import { Reg } from '../../cpu/engine.ts';
import { FileDescription } from '../../kernel/files/file-table.ts';
import type { ClaimedSyscall } from '../../kernel/kernel.ts';
import type { Task } from '../../kernel/task.ts';
import type { ProbeEvent } from '../event/event.ts';
import { type PerfAttr, readAttr } from './attr.ts';
import { checkGroup, checkPeriod, withoutEffect } from './check.ts';
import type { PerfEvent } from './event.ts';
import { setOutput } from './ioctl.ts';
import type { Perf } from './perf.ts';
import { UPROBE_PMU_TYPE } from './pmu-files.ts';
import { localEvent } from './probe-of-attr.ts';

const asInt = (value: bigint): number => Number(BigInt.asIntN(32, value));

const ANYBODY = -1;
const NO_GROUP = -1n;

interface Call {
  readonly perf: Perf;
  readonly task: Task;
  readonly attr: PerfAttr;
  readonly flags: number;
  /** The event of group_fd. */
  readonly group: PerfEvent | null;
}

/** What the event listens to: a place of a file, or an event of tracefs. */
const sourceOf = ({ perf, task, attr }: Call): ProbeEvent | ErrnoName => {
  if (attr.type === UPROBE_PMU_TYPE) return localEvent(perf.context, task, attr);
  if (attr.type === PERF_TYPE_TRACEPOINT) return perf.eventById(attr.config) ?? 'EINVAL';
  perf.note('perf_event_open: there are only uprobes and the events made of them (ENOENT)');
  return 'ENOENT';
};

const openEvent = (call: Call, watched: Task | null, cpu: number): PerfEvent | ErrnoName => {
  const { perf, attr, flags, group } = call;
  const leader = flags & OpenFlag.FD_NO_GROUP ? null : group;
  if (leader !== null && leader.attr.flags.has('inherit') !== attr.flags.has('inherit'))
    return 'EINVAL';
  const event = perf.open(attr, { task: watched, cpu }, () => sourceOf(call));
  if (typeof event === 'string') return event;
  const refusal =
    (leader === null ? null : checkGroup(event, leader)) ??
    (flags & OpenFlag.FD_OUTPUT && group !== null ? setOutput(event, group) : null);
  if (refusal !== null) {
    perf.close(event);
    return refusal;
  }
  if (leader !== null) event.joinGroup(leader);
  const silent = withoutEffect(attr);
  if (silent !== null) perf.note(silent);
  return event;
};

const open = (perf: Perf, task: Task): number | ErrnoName => {
  const { regs, mm, files } = task;
  const flags = regs.read(Reg.R8);
  if ((flags & ~BigInt(OPEN_FLAGS)) !== 0n) return 'EINVAL';
  const attr = readAttr(mm.space, regs.read(Reg.Rdi));
  if (typeof attr === 'string') return attr;
  const early = checkPeriod(attr);
  if (early !== null) return early;
  const pid = asInt(regs.read(Reg.Rsi));
  const cpu = asInt(regs.read(Reg.Rdx));
  const wantsCgroup = (Number(flags) & OpenFlag.PID_CGROUP) !== 0;
  if (wantsCgroup && (pid === ANYBODY || cpu === -1)) return 'EINVAL';
  const groupFd = BigInt.asIntN(32, regs.read(Reg.R10));
  const group = groupFd === NO_GROUP ? null : perf.eventAt(task, groupFd);
  if (group === undefined) return 'EBADF';
  const watched = pid === 0 ? task : pid === ANYBODY ? null : perf.taskOf(pid);
  // No descriptor is one of a control group.
  if (wantsCgroup) return 'EBADF';
  if (watched === undefined) return 'ESRCH';
  const event = openEvent({ perf, task, attr, flags: Number(flags), group }, watched, cpu);
  if (typeof event === 'string') return event;
  const description = new FileDescription(perf.fileOf(event), O.RDWR);
  const fd = files.install(description, 0, (Number(flags) & OpenFlag.FD_CLOEXEC) !== 0);
  if (typeof fd === 'string') perf.close(event);
  return fd;
};

/** The handler of system call 298. */
export const perfEventOpen =
  (perf: Perf): ClaimedSyscall =>
  (task) => {
    const answer = open(perf, task);
    return typeof answer === 'string' ? fail(answer) : BigInt(answer);
  };
