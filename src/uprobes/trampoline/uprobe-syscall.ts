/** System call 336: an optimised site was reached (spec section 5.5). */
import { fail } from '../../abi/errno.ts';
import { u64, view } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import { runEntryHandlers } from '../core/entry-handlers.ts';
import type { Shared } from '../core/shared.ts';
import { forceIll } from '../core/signals.ts';
import { FORMS } from './forms.ts';

/** ax, r11, cx and the call's return address, from sp on. */
const FRAME_SIZE = 32;
const frame = new Uint8Array(FRAME_SIZE);
const words = view(frame);
const word = (index: number): bigint => words.getBigUint64(8 * index, true);
const setWord = (index: number, value: bigint): void => words.setBigUint64(8 * index, value, true);

const FAILED = u64(-1n);

/** What the handlers saw and left. */
const runAt = (shared: Shared, task: Task, site: bigint): void => {
  const uprobe = shared.mmState(task.mm).uprobeAt(site, shared.registry);
  if (uprobe === undefined) return;
  shared.counters.optimisedHits++;
  runEntryHandlers(shared, task, uprobe, site, 'uprobe-syscall');
};

/** Claimed only where `profile.optimise` is not `none`. */
export const uprobeSyscall = (shared: Shared, task: Task): bigint | undefined => {
  const { optimise, optimiseWrongPlaceErrno } = shared.profile;
  if (optimise === 'none') return fail('ENOSYS');
  const { regs } = task;
  const { space } = task.mm;
  const form = FORMS[optimise];
  const trampolineIp = regs.read(Reg.Rip);
  if (space.find(trampolineIp)?.special !== shared.trampolineMapping)
    return fail(optimiseWrongPlaceErrno ?? 'ENOSYS');
  const sp = regs.read(Reg.Rsp);
  if (space.read(sp, frame) < FRAME_SIZE) {
    forceIll(shared, task);
    return FAILED;
  }
  const site = u64(word(3) - BigInt(form.size));
  const userSp = u64(sp + BigInt(FRAME_SIZE) + form.spared);
  regs.write(Reg.Rax, word(0));
  regs.write(Reg.R11, word(1));
  regs.write(Reg.Rcx, word(2));
  regs.write(Reg.Rip, site);
  regs.write(Reg.Rsp, userSp);
  runAt(shared, task, site);
  const ip = regs.read(Reg.Rip);
  if (regs.read(Reg.Rsp) !== userSp) {
    // The trampoline's tail would undo it: the task goes on with exactly these registers.
    if (ip === site) regs.write(Reg.Rip, site + BigInt(form.size));
    return undefined;
  }
  setWord(0, regs.read(Reg.Rax));
  setWord(1, regs.read(Reg.R11));
  setWord(2, regs.read(Reg.Rcx));
  if (ip !== site) setWord(3, ip);
  regs.write(Reg.Rsp, sp);
  regs.write(Reg.Rip, trampolineIp);
  if (space.write(sp, frame) < FRAME_SIZE) {
    forceIll(shared, task);
    return FAILED;
  }
  regs.write(Reg.R11, regs.read(Reg.Rflags));
  regs.write(Reg.Rcx, trampolineIp);
  return 0n;
};
