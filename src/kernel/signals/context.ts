/** Registers to and from struct sigcontext. */

import { SigContext, USER_CS, USER_SS } from '../../abi/sigframe.ts';
import { Flag } from '../../abi/traps.ts';
import { Reg, type RegisterFile } from '../../cpu/engine.ts';
import type { Task } from '../task.ts';

const SAVED: readonly (readonly [offset: number, reg: Reg])[] = [
  [SigContext.r8, Reg.R8],
  [SigContext.r9, Reg.R9],
  [SigContext.r10, Reg.R10],
  [SigContext.r11, Reg.R11],
  [SigContext.r12, Reg.R12],
  [SigContext.r13, Reg.R13],
  [SigContext.r14, Reg.R14],
  [SigContext.r15, Reg.R15],
  [SigContext.di, Reg.Rdi],
  [SigContext.si, Reg.Rsi],
  [SigContext.bp, Reg.Rbp],
  [SigContext.bx, Reg.Rbx],
  [SigContext.dx, Reg.Rdx],
  [SigContext.ax, Reg.Rax],
  [SigContext.cx, Reg.Rcx],
  [SigContext.sp, Reg.Rsp],
  [SigContext.ip, Reg.Rip],
];

/** FIX_EFLAGS: what sigreturn may change. RF is taken too, but means nothing between instructions. */
const RESTORABLE =
  Flag.AC | Flag.OF | Flag.DF | Flag.TF | Flag.SF | Flag.ZF | Flag.AF | Flag.PF | Flag.CF;

/** What lies beside the registers in struct sigcontext. */
export interface ContextExtras {
  readonly oldMask: bigint;
  readonly fpstate: bigint;
}

/** setup_sigcontext. `into` is the zeroed structure. */
export const saveContext = (task: Task, into: DataView, extras: ContextExtras): void => {
  const { regs } = task;
  for (const [offset, reg] of SAVED) into.setBigUint64(offset, regs.read(reg), true);
  into.setBigUint64(SigContext.flags, regs.read(Reg.Rflags) | task.resumeFlag, true);
  into.setUint16(SigContext.cs, USER_CS, true);
  into.setUint16(SigContext.ss, USER_SS, true);
  into.setBigUint64(SigContext.err, task.errorCode, true);
  into.setBigUint64(SigContext.trapno, task.trapNumber, true);
  into.setBigUint64(SigContext.oldmask, extras.oldMask, true);
  into.setBigUint64(SigContext.cr2, task.cr2, true);
  into.setBigUint64(SigContext.fpstate, extras.fpstate, true);
};

/** restore_sigcontext without the FPU. False if it asks for another code or stack segment. */
export const restoreContext = (regs: RegisterFile, from: DataView): boolean => {
  for (const [offset, reg] of SAVED) regs.write(reg, from.getBigUint64(offset, true));
  const flags = from.getBigUint64(SigContext.flags, true) & RESTORABLE;
  regs.write(Reg.Rflags, (regs.read(Reg.Rflags) & ~RESTORABLE) | flags);
  // The kernel forces privilege level 3; any other selector would leave 64-bit mode or fault in iret.
  const cs = from.getUint16(SigContext.cs, true) | 3;
  const ss = from.getUint16(SigContext.ss, true) | 3;
  return cs === USER_CS && ss === USER_SS;
};
