/** Delivering one pending signal (get_signal, handle_signal). */

import { fail } from '../../abi/errno.ts';
import {
  defaultAction,
  Sa,
  SIG_DFL,
  SIG_IGN,
  SiCode,
  Sig,
  sigBit,
  UNBLOCKABLE,
} from '../../abi/signals.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../task.ts';
import type { ExitReason } from '../thread-group.ts';
import type { SignalAction } from './actions.ts';
import { enterHandler } from './frame.ts';
import { takeSignal } from './queue.ts';
import { forceFatalSignal, forceSignal } from './send.ts';
import type { SignalInfo } from './siginfo.ts';

/** What delivery needs of the kernel. */
export interface Delivery {
  exitGroup(task: Task, reason: ExitReason): void;
  /** A signal reached a handler or its default action. */
  delivered(signal: number): void;
}

/**
 * Takes pending signals until one has a handler or a default action that does something. Returns
 * whether a handler was set up.
 */
export const deliverSignal = (task: Task, kernel: Delivery): boolean => {
  for (;;) {
    const info = takeSignal(task);
    if (info === null) return false;
    const action = task.actions.get(info.signal);
    if (action.handler === SIG_IGN) continue;
    if (action.handler !== SIG_DFL) {
      kernel.delivered(info.signal);
      handle(task, info, action);
      return true;
    }
    const reaction = defaultAction(info.signal);
    if (reaction === 'ignore' || reaction === 'continue') continue;
    kernel.delivered(info.signal);
    if (reaction === 'stop') stop(task, info.signal);
    // RLIMIT_CORE is 0 here: nothing is ever dumped.
    else kernel.exitGroup(task, { kind: 'signal', signal: info.signal, coreDumped: false });
    return false;
  }
};

const handle = (task: Task, info: SignalInfo, action: SignalAction): void => {
  const { signal } = info;
  restartOrInterrupt(task, action);
  if ((action.flags & Sa.RESETHAND) !== 0n)
    task.actions.set(signal, { ...action, handler: SIG_DFL });
  if (!enterHandler(task, info, action)) {
    const segv: SignalInfo = { signal: Sig.SIGSEGV, code: SiCode.SI_KERNEL };
    if (signal === Sig.SIGSEGV) forceFatalSignal(task, segv);
    else forceSignal(task, segv);
    return;
  }
  task.savedBlocked = null;
  const own = (action.flags & Sa.NODEFER) === 0n ? sigBit(signal) : 0n;
  task.blocked = (task.blocked | action.mask | own) & ~UNBLOCKABLE;
};

/** An interrupted call answers EINTR, or runs again after the handler if it may. */
const restartOrInterrupt = (task: Task, action: SignalAction): void => {
  if (task.syscall < 0) return;
  const result = BigInt.asIntN(64, task.regs.read(Reg.Rax));
  const restartable = result === fail('ERESTARTSYS') && (action.flags & Sa.RESTART) !== 0n;
  if (restartable) restartSyscall(task);
  else if (result === fail('ERESTARTSYS') || result === fail('ERESTARTNOHAND'))
    task.regs.write(Reg.Rax, fail('EINTR'));
};

/** No handler ran: an interrupted call starts over. */
export const restartUnhandled = (task: Task): void => {
  if (task.syscall < 0) return;
  const result = BigInt.asIntN(64, task.regs.read(Reg.Rax));
  if (result === fail('ERESTARTSYS') || result === fail('ERESTARTNOHAND')) restartSyscall(task);
};

/** Goes back to the `syscall` instruction, which is two bytes long. */
const restartSyscall = (task: Task): void => {
  const { regs } = task;
  regs.write(Reg.Rax, BigInt(task.syscall));
  regs.write(Reg.Rip, regs.read(Reg.Rip) - 2n);
  task.syscall = -1;
};

/** do_signal_stop. A thread that sleeps goes on sleeping; it is not running either. */
const stop = (task: Task, signal: number): void => {
  for (const thread of task.group.threads)
    if (thread.state.kind === 'running') thread.state = { kind: 'stopped', signal };
};
