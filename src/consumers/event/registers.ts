import { Reg, type RegisterFile } from '../../cpu/engine.ts';
import type { RegisterName } from './record.ts';

const NAMES: readonly (readonly [RegisterName, Reg])[] = [
  ['ax', Reg.Rax],
  ['bx', Reg.Rbx],
  ['cx', Reg.Rcx],
  ['dx', Reg.Rdx],
  ['si', Reg.Rsi],
  ['di', Reg.Rdi],
  ['bp', Reg.Rbp],
  ['sp', Reg.Rsp],
  ['r8', Reg.R8],
  ['r9', Reg.R9],
  ['r10', Reg.R10],
  ['r11', Reg.R11],
  ['r12', Reg.R12],
  ['r13', Reg.R13],
  ['r14', Reg.R14],
  ['r15', Reg.R15],
  ['ip', Reg.Rip],
  ['flags', Reg.Rflags],
];

/** All registers of a hit, by pt_regs name. */
export const registersOf = (regs: RegisterFile): Record<RegisterName, bigint> =>
  Object.fromEntries(NAMES.map(([name, reg]) => [name, regs.read(reg)])) as Record<
    RegisterName,
    bigint
  >;
