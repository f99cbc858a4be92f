/** Requests of ioctl(2) on a perf event (_perf_ioctl). */
import type { ErrnoName } from '../../abi/errno.ts';
import { PERF_IOC_FLAG_GROUP, PerfIoc } from '../../abi/perf.ts';
import { bytesText } from '../../base/byte-text.ts';
import { PAGE_SIZE } from '../../base/bytes.ts';
import type { Task } from '../../kernel/task.ts';
import type { ProbeEvent } from '../event/event.ts';
import { readAttr } from './attr.ts';
import type { PerfEvent, RecordFilter } from './event.ts';
import { validPeriod } from './period.ts';

/** What requests need of the rest of perf. */
export interface IoctlServices {
  /** The event behind a descriptor; undefined when it is none. */
  eventAt(task: Task, fd: bigint): PerfEvent | undefined;
  parseFilter(text: string, event: ProbeEvent): RecordFilter | ErrnoName;
}

interface IoctlCall {
  readonly event: PerfEvent;
  readonly task: Task;
  readonly arg: bigint;
}

type Handler = (call: IoctlCall, services: IoctlServices) => number | ErrnoName;

/** Runs for the event, or with PERF_IOC_FLAG_GROUP for all of its group. */
const forEach =
  (action: (event: PerfEvent) => void): Handler =>
  ({ event, arg }) => {
    const isGroup = (arg & PERF_IOC_FLAG_GROUP) !== 0n;
    for (const one of isGroup ? [event.leader, ...event.leader.siblings] : [event]) action(one);
    return 0;
  };

/** Not a counting event's, nor an inherited one's. */
const refresh: Handler = ({ event, arg }) => {
  if (event.attr.flags.has('inherit') || !event.period.isSampling) return 'EINVAL';
  event.eventLimit += Number(BigInt.asIntN(32, arg));
  event.enable();
  return 0;
};

const period: Handler = ({ event, task, arg }) => {
  const value = task.mm.space.readU64(arg);
  if (value === undefined) return 'EFAULT';
  if (!event.period.isSampling || value === 0n) return 'EINVAL';
  if (!validPeriod(value, event.period.isFrequency)) return 'EINVAL';
  event.period.set(value);
  return 0;
};

/** perf_event_set_output. Returns null, or why the one's samples cannot go into the other's ring. */
export const setOutput = (event: PerfEvent, output: PerfEvent | null): ErrnoName | null => {
  const isMapped = event.ring?.isMappedBy(event) === true;
  if (output === null) {
    if (isMapped) return 'EINVAL';
    event.ring = null;
    return null;
  }
  const mayShare =
    event !== output &&
    output.target.cpu === event.target.cpu &&
    (output.target.cpu !== -1 || output.target.task === event.target.task) &&
    output.clockid === event.clockid &&
    output.attr.flags.has('writeBackward') === event.attr.flags.has('writeBackward');
  if (!mayShare || isMapped || output.ring === null) return 'EINVAL';
  event.ring = output.ring;
  return null;
};

const NO_EVENT = BigInt.asUintN(64, -1n);

const redirect: Handler = ({ event, task, arg }, services) => {
  if (arg === NO_EVENT) return setOutput(event, null) ?? 0;
  const output = services.eventAt(task, arg);
  return output === undefined ? 'EBADF' : (setOutput(event, output) ?? 0);
};

const pause: Handler = ({ event: { ring }, arg }) => {
  if (ring === null || ring.shape.dataSize === 0) return 'EINVAL';
  ring.paused = arg !== 0n;
  return 0;
};

const modify: Handler = ({ event, task, arg }) => {
  const attr = readAttr(task.mm.space, arg);
  if (typeof attr === 'string') return attr;
  return attr.type === event.attr.type ? 'EOPNOTSUPP' : 'EINVAL';
};

/** No descriptor is one of a BPF program: there is no bpf(2). */
const setBpf: Handler = ({ task, arg }) =>
  task.files.get(Number(BigInt.asIntN(32, arg))) === undefined ? 'EBADF' : 'EINVAL';

/** One filter an event, for good (ftrace_profile_set_filter). */
const setFilter: Handler = ({ event, task: { mm }, arg }, services) => {
  const bytes = mm.space.readString(arg, Number(PAGE_SIZE));
  if (bytes === undefined)
    return mm.space.read(arg, new Uint8Array(Number(PAGE_SIZE))) < PAGE_SIZE ? 'EFAULT' : 'EINVAL';
  if (event.filter !== null) return 'EEXIST';
  const filter = services.parseFilter(bytesText(bytes), event.source.event);
  if (typeof filter === 'string') return filter;
  event.filter = filter;
  return 0;
};

const REQUESTS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [PerfIoc.ENABLE, forEach((event) => event.enable())],
  [PerfIoc.DISABLE, forEach((event) => event.disable())],
  [PerfIoc.RESET, forEach((event) => event.reset())],
  [PerfIoc.REFRESH, refresh],
  [PerfIoc.PERIOD, period],
  [PerfIoc.ID, ({ event, task, arg }) => (task.mm.space.writeU64(arg, event.id) ? 0 : 'EFAULT')],
  [PerfIoc.SET_OUTPUT, redirect],
  [PerfIoc.SET_FILTER, setFilter],
  [PerfIoc.SET_BPF, setBpf],
  [PerfIoc.PAUSE_OUTPUT, pause],
  [PerfIoc.QUERY_BPF, () => 'EINVAL'],
  [PerfIoc.MODIFY_ATTRIBUTES, modify],
]);

export const perfIoctl = (
  services: IoctlServices,
  call: IoctlCall,
  request: number,
): number | ErrnoName => (REQUESTS.get(request) ?? (() => 'ENOTTY' as const))(call, services);
