/** Handlers, masks and the alternate stack: the calls that change how signals reach the caller. */

import { SigActionLayout, StackLayout } from '../../abi/sigframe.ts';
import {
  NSIG,
  Sa,
  SIGSET_SIZE,
  SiCode,
  Sig,
  SigHow,
  sigBit,
  UNBLOCKABLE,
} from '../../abi/signals.ts';
import { view } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { SignalAction } from '../signals/actions.ts';
import { changeAltStack } from '../signals/change-alt-stack.ts';
import { discardEverywhere, isIgnored } from '../signals/queue.ts';
import { forceSignal } from '../signals/send.ts';
import { returnFromHandler } from '../signals/sigreturn.ts';
import { answering } from './answer.ts';
import { asInt, full, type SyscallContext, type SyscallHandler, type SyscallRow } from './table.ts';
import { get, put, words } from './user.ts';

/** UAPI_SA_FLAGS and SA_RESTORER: flags that are kept; a program can so find out which exist. */
const KNOWN_FLAGS =
  Sa.NOCLDSTOP |
  Sa.NOCLDWAIT |
  Sa.SIGINFO |
  Sa.ONSTACK |
  Sa.RESTART |
  Sa.NODEFER |
  Sa.RESETHAND |
  Sa.EXPOSE_TAGBITS |
  Sa.RESTORER;

const readAction = (from: DataView): SignalAction => ({
  handler: from.getBigUint64(SigActionLayout.handler, true),
  flags: from.getBigUint64(SigActionLayout.flags, true) & KNOWN_FLAGS,
  restorer: from.getBigUint64(SigActionLayout.restorer, true),
  mask: from.getBigUint64(SigActionLayout.mask, true) & ~UNBLOCKABLE,
});

const rtSigaction = answering(({ task, space }, [signalArg, newAt, oldAt, size]) => {
  if (size !== BigInt(SIGSET_SIZE)) return 'EINVAL';
  const wanted = newAt === 0n ? null : get(space, newAt, SigActionLayout.size);
  if (wanted === undefined) return 'EFAULT';
  const signal = asInt(signalArg);
  if (signal < 1 || signal > NSIG) return 'EINVAL';
  if (wanted !== null && (sigBit(signal) & UNBLOCKABLE) !== 0n) return 'EINVAL';
  const old = task.actions.get(signal);
  if (wanted !== null) {
    task.actions.set(signal, readAction(wanted));
    if (isIgnored(task, signal)) discardEverywhere(task, sigBit(signal));
  }
  if (oldAt === 0n) return null;
  return put(space, oldAt, words(old.handler, old.flags, old.restorer, old.mask));
});

const rtSigprocmask = answering(({ task, space }, [how, newAt, oldAt, size]) => {
  if (size !== BigInt(SIGSET_SIZE)) return 'EINVAL';
  const old = task.blocked;
  if (newAt !== 0n) {
    const set = space.readU64(newAt);
    if (set === undefined) return 'EFAULT';
    const blocked = changedMask(asInt(how), old, set);
    if (blocked === undefined) return 'EINVAL';
    task.blocked = blocked & ~UNBLOCKABLE;
  }
  return oldAt === 0n ? null : put(space, oldAt, words(old));
});

const changedMask = (how: number, old: bigint, set: bigint): bigint | undefined => {
  if (how === SigHow.SIG_BLOCK) return old | set;
  if (how === SigHow.SIG_UNBLOCK) return old & ~set;
  return how === SigHow.SIG_SETMASK ? set : undefined;
};

const rtSigpending = answering(({ task, space }, [at, size]) => {
  if (size > BigInt(SIGSET_SIZE)) return 'EINVAL';
  const set = (task.pending.mask | task.group.pending.mask) & task.blocked;
  return put(space, at, words(set).subarray(0, Number(size)));
});

const sigaltstack = answering((ctx, [newAt, oldAt]) => {
  const { task, space } = ctx;
  const old = stackImage(ctx);
  if (newAt !== 0n) {
    const wanted = get(space, newAt, StackLayout.size);
    if (wanted === undefined) return 'EFAULT';
    const refused = changeAltStack(task, {
      sp: wanted.getBigUint64(StackLayout.sp, true),
      flags: wanted.getInt32(StackLayout.flags, true),
      size: wanted.getBigUint64(StackLayout.stackSize, true),
    });
    if (refused !== null) return refused;
  }
  return oldAt === 0n ? null : put(space, oldAt, old);
});

/** stack_t of the present state. */
const stackImage = ({ task }: SyscallContext): Uint8Array => {
  const { altStack, regs } = task;
  const image = new Uint8Array(StackLayout.size);
  const into = view(image);
  into.setBigUint64(StackLayout.sp, altStack.sp, true);
  into.setInt32(StackLayout.flags, altStack.reportedFlags(regs.read(Reg.Rsp)), true);
  into.setBigUint64(StackLayout.stackSize, altStack.size, true);
  return image;
};

const rtSigreturn: SyscallHandler = ({ task }) => {
  if (returnFromHandler(task)) return undefined;
  forceSignal(task, { signal: Sig.SIGSEGV, code: SiCode.SI_KERNEL });
  task.regs.write(Reg.Rax, 0n);
  return undefined;
};

export const SIGNAL_ROWS: readonly SyscallRow[] = [
  full('rt_sigaction', rtSigaction),
  full('rt_sigprocmask', rtSigprocmask),
  full('rt_sigpending', rtSigpending),
  full('sigaltstack', sigaltstack),
  full('rt_sigreturn', rtSigreturn),
];
