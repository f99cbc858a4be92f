import { Flag } from '../abi/traps.ts';
import { Reg, type RegisterFile } from '../cpu/engine.ts';
import type { ProgramImage } from './kernel-options.ts';
import { resetFpu } from './signals/fpu.ts';

/** start_thread: the registers of a program that has not run yet. */
export const startThread = (regs: RegisterFile, image: ProgramImage): void => {
  for (const reg of Object.values(Reg)) regs.write(reg, 0n);
  regs.write(Reg.Rflags, Flag.Fixed | Flag.IF);
  regs.write(Reg.Rip, image.entry);
  regs.write(Reg.Rsp, image.stackPointer);
  resetFpu(regs);
};
