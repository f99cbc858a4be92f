/** Leaving a signal handler: rt_sigreturn(2). */

import { Frame, SigContext, UContext } from '../../abi/sigframe.ts';
import { UNBLOCKABLE } from '../../abi/signals.ts';
import { view } from '../../base/bytes.ts';
import { FX_IMAGE_SIZE, Reg } from '../../cpu/engine.ts';
import type { Task } from '../task.ts';
import { changeAltStack } from './change-alt-stack.ts';
import { restoreContext } from './context.ts';
import { resetFpu, restoreFpu } from './fpu.ts';

/** Takes every register from the frame at sp - 8. False = a bad frame: SIGSEGV is due. */
export const returnFromHandler = (task: Task): boolean => {
  const { regs, mm } = task;
  const bytes = new Uint8Array(UContext.size);
  // `ret` of the handler has popped the address of the restorer.
  const frame = regs.read(Reg.Rsp) - 8n;
  if (mm.space.read(frame + BigInt(Frame.ucontext), bytes) !== bytes.length) return false;
  const ucontext = view(bytes);
  const mcontext = new DataView(bytes.buffer, UContext.mcontext);
  task.blocked = ucontext.getBigUint64(UContext.sigmask, true) & ~UNBLOCKABLE;
  if (!restoreContext(regs, mcontext)) return false;
  if (!restoreFpuFrom(task, mcontext.getBigUint64(SigContext.fpstate, true))) return false;
  // Every error but EFAULT is ignored, and the structure has been read already.
  changeAltStack(task, {
    sp: ucontext.getBigUint64(UContext.stackSp, true),
    flags: ucontext.getInt32(UContext.stackFlags, true),
    size: ucontext.getBigUint64(UContext.stackSize, true),
  });
  return true;
};

const restoreFpuFrom = (task: Task, address: bigint): boolean => {
  if (address === 0n) {
    resetFpu(task.regs);
    return true;
  }
  const image = new Uint8Array(FX_IMAGE_SIZE);
  return task.mm.space.read(address, image) === image.length && restoreFpu(task.regs, image);
};
