/** Executes the instructions that need no step (spec section 3.3). */
import { Flag } from '../../abi/traps.ts';
import { u64 } from '../../base/bytes.ts';
import { Reg, type RegisterFile } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { Accepted } from './analysis.ts';

const isSet = (flags: bigint, flag: bigint): boolean => (flags & flag) !== 0n;

/** Conditions of jcc by bits 1-3 of the opcode; bit 0 negates (SDM vol. 1, appendix B). */
const CONDITIONS: readonly ((flags: bigint) => boolean)[] = [
  (flags) => isSet(flags, Flag.OF),
  (flags) => isSet(flags, Flag.CF),
  (flags) => isSet(flags, Flag.ZF),
  (flags) => isSet(flags, Flag.CF | Flag.ZF),
  (flags) => isSet(flags, Flag.SF),
  (flags) => isSet(flags, Flag.PF),
  (flags) => isSet(flags, Flag.SF) !== isSet(flags, Flag.OF),
  (flags) => isSet(flags, Flag.ZF) || isSet(flags, Flag.SF) !== isSet(flags, Flag.OF),
];

export const isTaken = (condition: number, flags: bigint): boolean =>
  (CONDITIONS[condition >> 1]?.(flags) ?? false) !== ((condition & 1) === 1);

/** Stores below `sp`, then moves sp there; false, and nothing changed, when the store faults. */
export const pushWord = (task: Task, sp: bigint, value: bigint): boolean => {
  const target = u64(sp - 8n);
  if (!task.mm.space.writeU64(target, u64(value))) return false;
  task.regs.write(Reg.Rsp, target);
  return true;
};

const push = (task: Task, value: bigint): boolean => pushWord(task, task.regs.read(Reg.Rsp), value);

const jump = (regs: RegisterFile, target: bigint): true => {
  regs.write(Reg.Rip, u64(target));
  return true;
};

/**
 * False when the instruction must be stepped: it is none of those, or its store faulted.
 * @param ip where the instruction is taken to be: handlers may have moved it
 */
export const emulate = (task: Task, { handling, length }: Accepted, ip: bigint): boolean => {
  const { regs } = task;
  const next = ip + BigInt(length);
  switch (handling.kind) {
    case 'nop':
      return jump(regs, next);
    case 'jump':
      return jump(regs, next + handling.displacement);
    case 'branch': {
      const taken = isTaken(handling.condition, regs.read(Reg.Rflags));
      return jump(regs, taken ? next + handling.displacement : next);
    }
    case 'call':
      return push(task, next) && jump(regs, next + handling.displacement);
    case 'push':
      return push(task, regs.read(handling.register)) && jump(regs, next);
    case 'step':
      return false;
  }
};
