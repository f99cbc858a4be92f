import { Reg } from '../../cpu/engine.ts';
import { TASK_SIZE } from '../../memory/address-space.ts';
import { type Answer, answering } from './answer.ts';
import { asInt, asUint, full, partial, type SyscallHandler, type SyscallRow } from './table.ts';
import { accessOk, put, word32, words } from './user.ts';

const setTidAddress = answering(({ task }, [address]) => {
  task.clearChildTid = address;
  return task.tid;
});

const ROBUST_LIST_HEAD = 24n; // struct robust_list_head

const setRobustList = answering(({ task }, [head, size]) => {
  if (size !== ROBUST_LIST_HEAD) return 'EINVAL';
  task.settings.robustList = head;
  return 0;
});

const getRobustList = answering(({ task, space }, [pidArg, headInto, sizeInto]) => {
  const pid = asInt(pidArg);
  if (pid !== 0 && pid !== task.tid) return 'ESRCH';
  return (
    put(space, sizeInto, words(ROBUST_LIST_HEAD)) ??
    put(space, headInto, words(task.settings.robustList))
  );
});

const RSEQ_UNREGISTER = 1;
/** Size and alignment of the first struct rseq; glibc registers this one too. */
const RSEQ_SIZE = 32;
/** cpu_id_start, cpu_id, rseq_cs, flags, node_id, mm_cid: the one CPU, no critical section. */
const RSEQ_REGISTERED = new Uint8Array(28);
const CPU_ID_UNINITIALIZED = word32(-1);

const rseq = answering(({ task, space }, [address, sizeArg, flagsArg, signatureArg]): Answer => {
  const { settings } = task;
  const [size, flags, signature] = [asUint(sizeArg), asUint(flagsArg), asUint(signatureArg)];
  const current = settings.rseq;
  if (flags === RSEQ_UNREGISTER) {
    if (current?.address !== address || current.size !== size) return 'EINVAL';
    if (current.signature !== signature) return 'EPERM';
    if (put(space, address + 4n, CPU_ID_UNINITIALIZED) !== null) return 'EFAULT';
    settings.rseq = null;
    return 0;
  }
  if (flags !== 0) return 'EINVAL';
  if (current !== null) {
    if (current.address !== address || current.size !== size) return 'EINVAL';
    return current.signature === signature ? 'EBUSY' : 'EPERM';
  }
  if (size < RSEQ_SIZE || address % BigInt(RSEQ_SIZE) !== 0n) return 'EINVAL';
  if (!accessOk(address, BigInt(size))) return 'EFAULT';
  if (put(space, address, RSEQ_REGISTERED) !== null) return 'EFAULT';
  settings.rseq = { address, size, signature };
  return 0;
});

const setBase =
  (reg: Reg) =>
  (task: { readonly regs: { write(reg: Reg, value: bigint): void } }, base: bigint): Answer => {
    if (base >= TASK_SIZE) return 'EPERM';
    task.regs.write(reg, base);
    return 0;
  };
const setFs = setBase(Reg.FsBase);
const setGs = setBase(Reg.GsBase);

/** Codes of arch_prctl(2). */
const Arch = { SET_GS: 0x1001, SET_FS: 0x1002, GET_FS: 0x1003, GET_GS: 0x1004, GET_CPUID: 0x1011 };

const archPrctl = answering(({ task, space }, [code, address]): Answer => {
  switch (asUint(code)) {
    case Arch.SET_FS:
      return setFs(task, address);
    case Arch.SET_GS:
      return setGs(task, address);
    case Arch.GET_FS:
      return put(space, address, words(task.regs.read(Reg.FsBase)));
    case Arch.GET_GS:
      return put(space, address, words(task.regs.read(Reg.GsBase)));
    case Arch.GET_CPUID:
      return 1;
    default:
      return 'EINVAL';
  }
});

const exit: SyscallHandler = ({ kernel, task }, [status]) => {
  kernel.exitTask(task, asUint(status) & 0xff);
  return undefined;
};

const exitGroup: SyscallHandler = ({ kernel, task }, [status]) => {
  kernel.exitGroup(task, { kind: 'exit', status: asUint(status) & 0xff });
  return undefined;
};

/** Options of wait4(2) and waitid(2). */
const Wait = {
  NOHANG: 0x1,
  STOPPED: 0x2,
  EXITED: 0x4,
  CONTINUED: 0x8,
  NOWAIT: 0x01000000,
  /** __WNOTHREAD, __WALL, __WCLONE. */
  LINUX: 0xe0000000,
} as const;
const WAITID_EVENTS = Wait.STOPPED | Wait.EXITED | Wait.CONTINUED;
const P_PIDFD = 3;

const wait4 = answering((_ctx, [, , options]) => {
  const known = Wait.NOHANG | Wait.STOPPED | Wait.CONTINUED | Wait.LINUX;
  return (asUint(options) & ~known) !== 0 ? 'EINVAL' : 'ECHILD';
});

const waitid = answering((_ctx, [type, , , optionsArg]) => {
  const options = asUint(optionsArg);
  const known = WAITID_EVENTS | Wait.NOHANG | Wait.NOWAIT | Wait.LINUX;
  if ((options & ~known) !== 0 || (options & WAITID_EVENTS) === 0) return 'EINVAL';
  return asUint(type) > P_PIDFD ? 'EINVAL' : 'ECHILD';
});

/** The life and the CPU state of one thread. */
export const THREAD_ROWS: readonly SyscallRow[] = [
  full('exit', exit),
  full('exit_group', exitGroup),
  full(
    'gettid',
    answering(({ task }) => task.tid),
  ),
  full('set_tid_address', setTidAddress),
  partial('set_robust_list', 'kept, never walked', setRobustList),
  full('get_robust_list', getRobustList),
  partial(
    'rseq',
    'one CPU and no preemption; a signal inside a critical section does not abort it',
    rseq,
  ),
  partial('arch_prctl', 'FS and GS base; the rest answers EINVAL', archPrctl),
  partial('wait4', 'there are no children', wait4),
  partial('waitid', 'there are no children', waitid),
];
