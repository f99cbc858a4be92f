/** System call 335: a probed function returned to the trampoline (spec section 4.5). */
import { u64, view } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { Shared } from '../core/shared.ts';
import { forceIll } from '../core/signals.ts';
import { RETURN_FRAME_SIZE, RETURN_SYSCALL_END } from './return-page.ts';

/** r11, cx and ax, from sp on. */
const frame = new Uint8Array(Number(RETURN_FRAME_SIZE));
const words = view(frame);
const word = (index: number): bigint => words.getBigUint64(8 * index, true);
const setWord = (index: number, value: bigint): void => words.setBigUint64(8 * index, value, true);

const FAILED = u64(-1n);

/** Where ip must be; without an area the kernel compares with an address of all ones. */
const expectedIp = (shared: Shared, task: Task): bigint | null => {
  const { area } = shared.mmState(task.mm);
  if (area !== null) return area.address + RETURN_SYSCALL_END;
  return shared.profile.uretAreaCheck ? null : u64(-1n + RETURN_SYSCALL_END);
};

const refuse = (shared: Shared, task: Task): bigint => {
  forceIll(shared, task);
  return FAILED;
};

/** Claimed only where the profile's return trampoline is a system call. */
export const uretprobeSyscall = (shared: Shared, task: Task): bigint | undefined => {
  const { regs } = task;
  const { space } = task.mm;
  const trampolineIp = regs.read(Reg.Rip);
  if (trampolineIp !== expectedIp(shared, task)) return refuse(shared, task);
  const sp = regs.read(Reg.Rsp);
  if (space.read(sp, frame) < frame.length) return refuse(shared, task);
  const userSp = u64(sp + RETURN_FRAME_SIZE);
  regs.write(Reg.R11, word(0));
  regs.write(Reg.Rcx, word(1));
  regs.write(Reg.Rax, word(2));
  regs.write(Reg.Rsp, userSp);
  shared.rules.handleTrampoline(shared, task, 'uretprobe-syscall');
  // The trampoline's tail cannot leave at another sp, and its ret has no entry on the shadow stack:
  // exactly these registers, then.
  if (regs.read(Reg.Rsp) !== userSp || task.mm.engine.shadowStack !== undefined) return undefined;
  setWord(0, regs.read(Reg.R11));
  setWord(1, regs.read(Reg.Rcx));
  setWord(2, regs.read(Reg.Rip));
  regs.write(Reg.Rsp, sp);
  regs.write(Reg.Rip, trampolineIp);
  if (space.write(sp, frame) < frame.length) return refuse(shared, task);
  regs.write(Reg.R11, regs.read(Reg.Rflags));
  regs.write(Reg.Rcx, trampolineIp);
  return regs.read(Reg.Rax);
};
