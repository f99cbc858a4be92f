import { NSIG } from '../../abi/signals.ts';
import { nameFromBytes } from '../files/names.ts';
import { type Answer, answering } from './answer.ts';
import {
  asUint,
  partial,
  type SyscallArgs,
  type SyscallContext,
  type SyscallRow,
} from './table.ts';
import { field, put, word32 } from './user.ts';

/** Options of prctl(2). */
const Pr = {
  SET_PDEATHSIG: 1,
  GET_PDEATHSIG: 2,
  GET_DUMPABLE: 3,
  SET_DUMPABLE: 4,
  SET_NAME: 15,
  GET_NAME: 16,
  GET_SECCOMP: 21,
  CAPBSET_READ: 23,
  GET_TIMERSLACK: 30,
  SET_NO_NEW_PRIVS: 38,
  GET_NO_NEW_PRIVS: 39,
} as const;

/** TASK_COMM_LEN. */
const COMM_SIZE = 16;
const LAST_CAPABILITY = 40; // CAP_CHECKPOINT_RESTORE
const TIMER_SLACK_NS = 50_000;

type Option = (ctx: SyscallContext, args: SyscallArgs) => Answer;

const setName: Option = ({ task, space }, [, address]) => {
  const bytes = new Uint8Array(COMM_SIZE - 1);
  const readable = space.read(address, bytes);
  const end = bytes.indexOf(0);
  // strncpy_from_user: what lies behind the NUL need not be readable.
  if (readable < bytes.length && (end < 0 || end >= readable)) return 'EFAULT';
  task.comm = nameFromBytes(end < 0 ? bytes : bytes.subarray(0, end));
  return 0;
};

const setDeathSignal: Option = ({ task }, [, signalArg]) => {
  if (signalArg > BigInt(NSIG)) return 'EINVAL';
  task.group.settings.deathSignal = Number(signalArg);
  return 0;
};

const setDumpable: Option = ({ task }, [, value]) => {
  if (value > 1n) return 'EINVAL';
  task.group.settings.dumpable = Number(value);
  return 0;
};

const setNoNewPrivileges: Option = ({ task }, [, on, ...rest]) => {
  if (on !== 1n || rest.slice(0, 3).some((arg) => arg !== 0n)) return 'EINVAL';
  task.group.settings.noNewPrivileges = true;
  return 0;
};

const OPTIONS: ReadonlyMap<number, Option> = new Map<number, Option>([
  [Pr.SET_NAME, setName],
  [Pr.GET_NAME, ({ task, space }, [, into]) => put(space, into, field(task.comm, COMM_SIZE))],
  [Pr.SET_PDEATHSIG, setDeathSignal],
  [
    Pr.GET_PDEATHSIG,
    ({ task, space }, [, into]) => put(space, into, word32(task.group.settings.deathSignal)),
  ],
  [Pr.GET_DUMPABLE, ({ task }) => task.group.settings.dumpable],
  [Pr.SET_DUMPABLE, setDumpable],
  [Pr.GET_SECCOMP, () => 0],
  [
    Pr.CAPBSET_READ,
    (_ctx, [, capability]) => (capability > BigInt(LAST_CAPABILITY) ? 'EINVAL' : 1),
  ],
  [Pr.GET_TIMERSLACK, () => TIMER_SLACK_NS],
  [Pr.SET_NO_NEW_PRIVS, setNoNewPrivileges],
  [
    Pr.GET_NO_NEW_PRIVS,
    ({ task }, [, ...rest]) =>
      rest.slice(0, 4).some((arg) => arg !== 0n)
        ? 'EINVAL'
        : Number(task.group.settings.noNewPrivileges),
  ],
]);

export const PRCTL_ROWS: readonly SyscallRow[] = [
  partial(
    'prctl',
    'name, death signal, dumpable, no_new_privs and a few questions; the rest answers EINVAL',
    answering((ctx, args) => {
      const option = OPTIONS.get(asUint(args[0]));
      return option === undefined ? 'EINVAL' : option(ctx, args);
    }),
  ),
];
