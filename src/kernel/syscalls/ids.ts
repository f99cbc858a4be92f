import { type Answer, always, answering } from './answer.ts';
import {
  asInt,
  full,
  partial,
  type SyscallContext,
  type SyscallHandler,
  type SyscallRow,
} from './table.ts';
import { get, put, word32 } from './user.ts';

type Group = SyscallContext['task']['group'];

const id = (which: (group: Group) => number): SyscallHandler =>
  answering(({ task }) => which(task.group));

/** A question about a process by number: 0 is the caller, and there is nobody else. */
const ofProcess = (which: (group: Group) => number): SyscallHandler =>
  answering(({ task: { group } }, [pidArg]) => {
    const pid = asInt(pidArg);
    return pid === 0 || pid === group.tgid ? which(group) : 'ESRCH';
  });

/** A set of ids may only be set to what it is; -1 leaves one alone. */
const setIds = (which: 'uid' | 'gid', count: number, mayKeep = true): SyscallHandler =>
  answering(({ task }, args) =>
    args.slice(0, count).every((arg) => {
      const wanted = asInt(arg);
      return wanted === task.group[which] || (mayKeep && wanted === -1);
    })
      ? 0
      : 'EPERM',
  );

/** getresuid and getresgid. */
const getThree = (which: 'uid' | 'gid'): SyscallHandler =>
  answering(({ task, space }, args) => {
    const value = word32(task.group[which]);
    return args.slice(0, 3).some((address) => put(space, address, value) !== null) ? 'EFAULT' : 0;
  });

const PRIO_USER = 2;

const getpriority = answering(({ task: { group } }, [whichArg, whoArg]): Answer => {
  const which = asInt(whichArg);
  if (which < 0 || which > PRIO_USER) return 'EINVAL';
  const own = which === PRIO_USER ? group.uid : group.pgid;
  const who = asInt(whoArg);
  // Nice value 0, told as 20 - nice.
  return who === 0 || who === own ? 20 : 'ESRCH';
});

const setpgid = answering(({ task: { group } }, [pidArg, pgidArg]) => {
  const pgid = asInt(pgidArg);
  if (pgid < 0) return 'EINVAL';
  const pid = asInt(pidArg);
  if (pid !== 0 && pid !== group.tgid) return 'ESRCH';
  // A session leader stays in its group.
  return 'EPERM';
});

const CAPABILITY_VERSION = 0x20080522;
const CAPABILITY_DATA = 24;

const capget = answering(({ space }, [header, data]) => {
  const asked = get(space, header, 8);
  if (asked === undefined) return 'EFAULT';
  if (asked.getUint32(0, true) !== CAPABILITY_VERSION) {
    if (put(space, header, word32(CAPABILITY_VERSION)) !== null) return 'EFAULT';
    return data === 0n ? 0 : 'EINVAL';
  }
  return data === 0n ? 0 : put(space, data, new Uint8Array(CAPABILITY_DATA));
});

const ONE_USER = 'the ids of the process never change';

/** Who the process is. */
export const ID_ROWS: readonly SyscallRow[] = [
  full(
    'getpid',
    id(({ tgid }) => tgid),
  ),
  full(
    'getppid',
    id(({ ppid }) => ppid),
  ),
  full(
    'getuid',
    id(({ uid }) => uid),
  ),
  full(
    'geteuid',
    id(({ uid }) => uid),
  ),
  full(
    'getgid',
    id(({ gid }) => gid),
  ),
  full(
    'getegid',
    id(({ gid }) => gid),
  ),
  full(
    'getpgrp',
    id(({ pgid }) => pgid),
  ),
  full(
    'getpgid',
    ofProcess(({ pgid }) => pgid),
  ),
  full(
    'getsid',
    ofProcess(({ sid }) => sid),
  ),
  full('getresuid', getThree('uid')),
  full('getresgid', getThree('gid')),
  partial('setuid', ONE_USER, setIds('uid', 1, false)),
  partial('setgid', ONE_USER, setIds('gid', 1, false)),
  partial('setreuid', ONE_USER, setIds('uid', 2)),
  partial('setregid', ONE_USER, setIds('gid', 2)),
  partial('setresuid', ONE_USER, setIds('uid', 3)),
  partial('setresgid', ONE_USER, setIds('gid', 3)),
  partial(
    'setfsuid',
    ONE_USER,
    id(({ uid }) => uid),
  ),
  partial(
    'setfsgid',
    ONE_USER,
    id(({ gid }) => gid),
  ),
  full(
    'getgroups',
    answering((_ctx, [size]) => (asInt(size) < 0 ? 'EINVAL' : 0)),
  ),
  full('setgroups', always('EPERM')),
  full('setpgid', setpgid),
  full('setsid', always('EPERM')),
  partial('getpriority', 'the nice value is 0', getpriority),
  full('capget', capget),
];
