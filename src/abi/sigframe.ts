/**
 * What signal delivery puts on the user stack of an x86-64 task: `struct rt_sigframe` and its parts
 * (asm/sigframe.h, asm/sigcontext.h, asm/ucontext.h, asm-generic/siginfo.h). Offsets in bytes.
 */

/** struct rt_sigframe: return address, ucontext, siginfo. */
export const Frame = { pretcode: 0, ucontext: 8, siginfo: 312, size: 440 } as const;

/** struct ucontext, from its own start. */
export const UContext = {
  flags: 0,
  link: 8,
  stackSp: 16,
  stackFlags: 24,
  stackSize: 32,
  mcontext: 40,
  sigmask: 296,
  size: 304,
} as const;

/** uc_flags. */
export const Uc = { FP_XSTATE: 1n, SIGCONTEXT_SS: 2n, STRICT_RESTORE_SS: 4n } as const;

/** struct sigcontext, from its own start. */
export const SigContext = {
  r8: 0,
  r9: 8,
  r10: 16,
  r11: 24,
  r12: 32,
  r13: 40,
  r14: 48,
  r15: 56,
  di: 64,
  si: 72,
  bp: 80,
  bx: 88,
  dx: 96,
  ax: 104,
  cx: 112,
  sp: 120,
  ip: 128,
  flags: 136,
  /** Four 16-bit words: cs, gs, fs, ss. */
  cs: 144,
  gs: 146,
  fs: 148,
  ss: 150,
  err: 152,
  trapno: 160,
  oldmask: 168,
  cr2: 176,
  fpstate: 184,
  size: 256,
} as const;

/** siginfo_t. */
export const SigInfoLayout = {
  signo: 0,
  errno: 4,
  code: 8,
  /** si_pid and si_uid share the union with si_addr. */
  pid: 16,
  uid: 20,
  address: 16,
  value: 24,
  size: 128,
} as const;

/** struct sigaction of rt_sigaction(2) (the kernel's, not libc's). */
export const SigActionLayout = { handler: 0, flags: 8, restorer: 16, mask: 24, size: 32 } as const;

/** stack_t of sigaltstack(2). */
export const StackLayout = { sp: 0, flags: 8, stackSize: 16, size: 24 } as const;

/** Bytes below the stack pointer that the ABI gives to leaf functions. */
export const RED_ZONE = 128n;

/** User segment selectors of a 64-bit task. */
export const USER_CS = 0x33;
export const USER_SS = 0x2b;
