/** Entering a signal handler: struct rt_sigframe on the user's stack (x64_setup_rt_frame). */

import { Frame, RED_ZONE, SigInfoLayout, UContext, Uc } from '../../abi/sigframe.ts';
import { Sa, SiCode, Sig, Ss } from '../../abi/signals.ts';
import { Flag } from '../../abi/traps.ts';
import { view } from '../../base/bytes.ts';
import { FX_IMAGE_SIZE, Reg } from '../../cpu/engine.ts';
import type { Task } from '../task.ts';
import type { SignalAction } from './actions.ts';
import { saveContext } from './context.ts';
import { resetFpu } from './fpu.ts';
import type { SignalInfo } from './siginfo.ts';

/** Where the two parts of a frame go. */
interface FramePlace {
  readonly frame: bigint;
  readonly fpstate: bigint;
}

/**
 * Pushes the frame and points the registers at the handler. False if that is impossible: no
 * restorer, or no writable room. Registers are untouched then.
 */
export const enterHandler = (task: Task, info: SignalInfo, action: SignalAction): boolean => {
  if ((action.flags & Sa.RESTORER) === 0n) return false;
  const place = placeFrame(task, action);
  if (place === null) return false;
  const { space } = task.mm;
  const image = new Uint8Array(FX_IMAGE_SIZE);
  task.regs.readFx(image);
  if (space.write(place.fpstate, image) !== image.length) return false;
  const frame = buildFrame(task, info, action, place);
  if (space.write(place.frame, frame) !== frame.length) return false;
  if ((task.altStack.flags & Ss.AUTODISARM) !== 0) task.altStack.reset();
  pointAtHandler(task, info.signal, action.handler, place.frame);
  // The handler's own ret finds the restorer there, too.
  task.mm.engine.shadowStack?.push(action.restorer);
  return true;
};

/** get_sigframe: below the red zone, or on the alternate stack; null if that one has no room. */
const placeFrame = (task: Task, action: SignalAction): FramePlace | null => {
  const { altStack } = task;
  const userSp = task.regs.read(Reg.Rsp);
  let onAltStack = altStack.isActive(userSp);
  let sp = BigInt.asUintN(64, userSp - RED_ZONE);
  if ((action.flags & Sa.ONSTACK) !== 0n && altStack.statusFlags(sp) === 0) {
    sp = altStack.sp + altStack.size;
    onAltStack = true;
  }
  const fpstate = BigInt.asUintN(64, sp - BigInt(FX_IMAGE_SIZE)) & ~63n;
  // The ABI at a function's entry: sp + 8 is a multiple of 16.
  const frame = BigInt.asUintN(64, ((fpstate - BigInt(Frame.size)) & ~15n) - 8n);
  return onAltStack && !altStack.contains(frame) ? null : { frame, fpstate };
};

const buildFrame = (
  task: Task,
  info: SignalInfo,
  action: SignalAction,
  { fpstate }: FramePlace,
): Uint8Array => {
  const bytes = new Uint8Array(Frame.size);
  const into = view(bytes);
  into.setBigUint64(Frame.pretcode, action.restorer, true);
  const at = (offset: number): number => Frame.ucontext + offset;
  into.setBigUint64(at(UContext.flags), Uc.SIGCONTEXT_SS | Uc.STRICT_RESTORE_SS, true);
  into.setBigUint64(at(UContext.stackSp), task.altStack.sp, true);
  into.setInt32(at(UContext.stackFlags), task.altStack.flags, true);
  into.setBigUint64(at(UContext.stackSize), task.altStack.size, true);
  const oldMask = task.savedBlocked ?? task.blocked;
  const mcontext = new DataView(bytes.buffer, at(UContext.mcontext));
  saveContext(task, mcontext, { oldMask, fpstate });
  into.setBigUint64(at(UContext.sigmask), oldMask, true);
  if ((action.flags & Sa.SIGINFO) !== 0n)
    writeSigInfo(info, new DataView(bytes.buffer, Frame.siginfo));
  return bytes;
};

const FAULTS = new Set<number>([Sig.SIGILL, Sig.SIGTRAP, Sig.SIGBUS, Sig.SIGFPE, Sig.SIGSEGV]);

/** copy_siginfo_to_user. `into` is the zeroed structure. */
export const writeSigInfo = (info: SignalInfo, into: DataView): void => {
  into.setInt32(SigInfoLayout.signo, info.signal, true);
  into.setInt32(SigInfoLayout.code, info.code, true);
  const fault = FAULTS.has(info.signal) && info.code > SiCode.SI_USER;
  if (fault) into.setBigUint64(SigInfoLayout.address, info.address ?? 0n, true);
  else {
    into.setInt32(SigInfoLayout.pid, info.pid ?? 0, true);
    into.setUint32(SigInfoLayout.uid, info.uid ?? 0, true);
  }
};

const pointAtHandler = (task: Task, signal: number, handler: bigint, frame: bigint): void => {
  const { regs } = task;
  regs.write(Reg.Rdi, BigInt(signal));
  regs.write(Reg.Rsi, frame + BigInt(Frame.siginfo));
  regs.write(Reg.Rdx, frame + BigInt(Frame.ucontext));
  regs.write(Reg.Rax, 0n);
  regs.write(Reg.Rsp, frame);
  regs.write(Reg.Rip, handler);
  regs.write(Reg.Rflags, regs.read(Reg.Rflags) & ~(Flag.DF | Flag.TF));
  resetFpu(regs);
};
