import { type CpuContext, FX_IMAGE_SIZE, Reg } from '../engine.ts';
import type { UnicornRegisters } from './registers.ts';

/** Registers of one task. */
interface Context extends CpuContext {
  /** By {@link Reg}. */
  readonly values: readonly bigint[];
  readonly fx: Uint8Array;
}

const REGISTERS = Object.values(Reg);

export const saveContext = (engine: string, regs: UnicornRegisters): CpuContext => {
  const fx = new Uint8Array(FX_IMAGE_SIZE);
  regs.readFx(fx);
  const context: Context = { engine, values: REGISTERS.map((reg) => regs.read(reg)), fx };
  return context;
};

export const loadContext = (context: CpuContext, regs: UnicornRegisters): void => {
  const { values, fx } = context as Context;
  for (const reg of REGISTERS) regs.write(reg, values[reg]!);
  regs.writeFx(fx);
};
