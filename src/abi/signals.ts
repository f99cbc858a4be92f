/** Signal numbers of x86-64 and what is fixed about each; signal(7). */
export const Sig = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGSTKFLT: 16,
  SIGCHLD: 17,
  SIGCONT: 18,
  SIGSTOP: 19,
  SIGTSTP: 20,
  SIGTTIN: 21,
  SIGTTOU: 22,
  SIGURG: 23,
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGVTALRM: 26,
  SIGPROF: 27,
  SIGWINCH: 28,
  SIGIO: 29,
  SIGPWR: 30,
  SIGSYS: 31,
} as const;
export type SignalName = keyof typeof Sig;

/** Signals are 1.._NSIG; from SIGRTMIN on they queue. */
export const NSIG = 64;
export const SIGRTMIN = 32;

const names = new Map<number, string>(Object.entries(Sig).map(([name, number]) => [number, name]));

/** `SIGSEGV`, `SIGRTMIN+3`; for numbers that are no signal, the number. */
export const signalName = (signal: number): string => {
  const name = names.get(signal);
  if (name !== undefined) return name;
  if (signal < SIGRTMIN || signal > NSIG) return `${signal}`;
  return signal === SIGRTMIN ? 'SIGRTMIN' : `SIGRTMIN+${signal - SIGRTMIN}`;
};

export type DefaultAction = 'term' | 'core' | 'ignore' | 'stop' | 'continue';

const DEFAULTS: Readonly<Record<Exclude<DefaultAction, 'term'>, readonly SignalName[]>> = {
  core: [
    'SIGQUIT',
    'SIGILL',
    'SIGTRAP',
    'SIGABRT',
    'SIGBUS',
    'SIGFPE',
    'SIGSEGV',
    'SIGXCPU',
    'SIGXFSZ',
    'SIGSYS',
  ],
  ignore: ['SIGCHLD', 'SIGURG', 'SIGWINCH'],
  stop: ['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'],
  continue: ['SIGCONT'],
};

const defaults = new Map<number, DefaultAction>();
for (const [action, signals] of Object.entries(DEFAULTS))
  for (const name of signals) defaults.set(Sig[name], action as DefaultAction);

/** What SIG_DFL does. */
export const defaultAction = (signal: number): DefaultAction => defaults.get(signal) ?? 'term';

/** si_code values; positive ones come from the kernel. */
export const SiCode = {
  SI_USER: 0,
  SI_KERNEL: 0x80,
  SI_QUEUE: -1,
  SI_TKILL: -6,
  ILL_ILLOPN: 2,
  FPE_INTDIV: 1,
  FPE_FLTDIV: 3,
  FPE_FLTOVF: 4,
  FPE_FLTUND: 5,
  FPE_FLTRES: 6,
  FPE_FLTINV: 7,
  SEGV_MAPERR: 1,
  SEGV_ACCERR: 2,
  SEGV_CPERR: 10,
  BUS_ADRALN: 1,
  BUS_ADRERR: 2,
  TRAP_BRKPT: 1,
  TRAP_TRACE: 2,
} as const;

/** Handlers that are no addresses. */
export const SIG_DFL = 0n;
export const SIG_IGN = 1n;

/** sa_flags. */
export const Sa = {
  NOCLDSTOP: 0x1n,
  NOCLDWAIT: 0x2n,
  SIGINFO: 0x4n,
  UNSUPPORTED: 0x400n,
  EXPOSE_TAGBITS: 0x800n,
  RESTORER: 0x04000000n,
  ONSTACK: 0x08000000n,
  RESTART: 0x10000000n,
  NODEFER: 0x40000000n,
  RESETHAND: 0x80000000n,
} as const;

/** `how` of rt_sigprocmask(2). */
export const SigHow = { SIG_BLOCK: 0, SIG_UNBLOCK: 1, SIG_SETMASK: 2 } as const;

/** Flags of an alternate stack (stack_t). */
export const Ss = { ONSTACK: 1, DISABLE: 2, AUTODISARM: 0x80000000 } as const;
/** Smallest alternate stack that sigaltstack(2) takes. */
export const MINSIGSTKSZ = 2048;

/** Bit of a signal in a sigset_t. */
export const sigBit = (signal: number): bigint => 1n << BigInt(signal - 1);
/** Signals that can neither be blocked nor handled. */
export const UNBLOCKABLE = sigBit(Sig.SIGKILL) | sigBit(Sig.SIGSTOP);
/** Bytes of a sigset_t as the kernel has it. */
export const SIGSET_SIZE = 8;
