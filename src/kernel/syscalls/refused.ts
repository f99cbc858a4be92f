import type { SyscallName } from '../../abi/syscalls.ts';
import { refused, type SyscallRow } from './table.ts';

const ONE_TASK = 'a machine has one task so far';
const ONE_PROGRAM = 'a machine runs one program so far';
const NO_NETWORK = 'a machine has no network';
const NO_TIMERS = 'timers do not run yet';
const POLL_ONLY = 'waiting on many descriptors is poll(2) and select(2) so far';
const NO_IPC = 'a machine has no System V or POSIX IPC';
const NO_TRACING = 'a guest cannot trace';
const NOTHING = 'there is no such thing in a machine';

/** Calls that programs do make and that belong to later work, with the reason they are told. */
const REFUSED: Partial<Record<SyscallName, string>> = {
  clone: ONE_TASK,
  clone3: ONE_TASK,
  fork: ONE_TASK,
  vfork: ONE_TASK,
  execve: ONE_PROGRAM,
  execveat: ONE_PROGRAM,
  socket: NO_NETWORK,
  connect: NO_NETWORK,
  accept: NO_NETWORK,
  sendto: NO_NETWORK,
  recvfrom: NO_NETWORK,
  sendmsg: NO_NETWORK,
  recvmsg: NO_NETWORK,
  shutdown: NO_NETWORK,
  bind: NO_NETWORK,
  listen: NO_NETWORK,
  getsockname: NO_NETWORK,
  getpeername: NO_NETWORK,
  socketpair: NO_NETWORK,
  setsockopt: NO_NETWORK,
  getsockopt: NO_NETWORK,
  accept4: NO_NETWORK,
  recvmmsg: NO_NETWORK,
  sendmmsg: NO_NETWORK,
  alarm: NO_TIMERS,
  getitimer: NO_TIMERS,
  setitimer: NO_TIMERS,
  timer_create: NO_TIMERS,
  timer_settime: NO_TIMERS,
  timer_gettime: NO_TIMERS,
  timer_getoverrun: NO_TIMERS,
  timer_delete: NO_TIMERS,
  timerfd_create: NO_TIMERS,
  timerfd_settime: NO_TIMERS,
  timerfd_gettime: NO_TIMERS,
  epoll_wait: POLL_ONLY,
  epoll_ctl: POLL_ONLY,
  epoll_pwait: POLL_ONLY,
  epoll_create: POLL_ONLY,
  epoll_create1: POLL_ONLY,
  epoll_pwait2: POLL_ONLY,
  eventfd: POLL_ONLY,
  eventfd2: POLL_ONLY,
  signalfd: POLL_ONLY,
  signalfd4: POLL_ONLY,
  inotify_init: POLL_ONLY,
  inotify_init1: POLL_ONLY,
  shmget: NO_IPC,
  shmat: NO_IPC,
  shmctl: NO_IPC,
  shmdt: NO_IPC,
  semget: NO_IPC,
  semop: NO_IPC,
  semctl: NO_IPC,
  msgget: NO_IPC,
  msgsnd: NO_IPC,
  msgrcv: NO_IPC,
  msgctl: NO_IPC,
  mq_open: NO_IPC,
  ptrace: NO_TRACING,
  perf_event_open: 'a kernel without a tracer above it has no events',
  bpf: NO_TRACING,
  process_vm_readv: NO_TRACING,
  process_vm_writev: NO_TRACING,
  io_uring_setup: NOTHING,
  memfd_create: NOTHING,
  seccomp: NOTHING,
  unshare: NOTHING,
  setns: NOTHING,
  userfaultfd: NOTHING,
  mount: NOTHING,
  umount2: NOTHING,
  chroot: NOTHING,
  reboot: NOTHING,
};

export const REFUSED_ROWS: readonly SyscallRow[] = Object.entries(REFUSED).map(([name, why]) =>
  refused(name as SyscallName, why),
);
