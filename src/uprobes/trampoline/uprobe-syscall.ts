/** System call 336: an optimised site was reached (spec section 5.5). */
import { fail } from '../../abi/errno.ts';
import { u64, view } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { Shared } from '../core/shared.ts';
import { forceIll } from '../core/signals.ts';
import type { OptimisedForm } from './forms.ts';

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
  shared.rules.runEntryHandlers(shared, task, uprobe, site, 'uprobe-syscall');
};

/** Registers as they were at the site; null when the stack cannot be read. Returns the site. */
const enter = (task: Task, sp: bigint, form: OptimisedForm): bigint | null => {
  const { regs } = task;
  if (task.mm.space.read(sp, frame) < FRAME_SIZE) return null;
  const site = u64(word(3) - BigInt(form.size));
  regs.write(Reg.Rax, word(0));
  regs.write(Reg.R11, word(1));
  regs.write(Reg.Rcx, word(2));
  regs.write(Reg.Rip, site);
  regs.write(Reg.Rsp, userSpOf(sp, form));
  return site;
};

/** sp at the site. */
const userSpOf = (sp: bigint, { spared }: OptimisedForm): bigint =>
  u64(sp + BigInt(FRAME_SIZE) + spared);

/** The handlers' frame is the site's: the call that made the trampoline's is off the shadow stack, too. */
const popShadowStack = (task: Task, returnAddress: bigint): boolean => {
  const { shadowStack } = task.mm.engine;
  return shadowStack === undefined || shadowStack.pop() === returnAddress;
};

/** Leaves what the handlers made of the registers for the trampoline's tail; false when it faults. */
const leave = (task: Task, sp: bigint, site: bigint, trampolineIp: bigint): boolean => {
  const { regs } = task;
  const ip = regs.read(Reg.Rip);
  setWord(0, regs.read(Reg.Rax));
  setWord(1, regs.read(Reg.R11));
  setWord(2, regs.read(Reg.Rcx));
  if (ip !== site) setWord(3, ip);
  task.mm.engine.shadowStack?.push(word(3));
  regs.write(Reg.Rsp, sp);
  regs.write(Reg.Rip, trampolineIp);
  if (task.mm.space.write(sp, frame) < FRAME_SIZE) return false;
  regs.write(Reg.R11, regs.read(Reg.Rflags));
  regs.write(Reg.Rcx, trampolineIp);
  return true;
};

const refuse = (shared: Shared, task: Task): bigint => {
  forceIll(shared, task);
  return FAILED;
};

/** Claimed only where `profile.optimise` is not `none`. */
export const uprobeSyscall = (shared: Shared, task: Task): bigint | undefined => {
  const { optimise, optimiseWrongPlaceErrno } = shared.profile;
  if (optimise === 'none') return fail('ENOSYS');
  const { regs, mm } = task;
  const form = shared.rules.forms[optimise];
  const trampolineIp = regs.read(Reg.Rip);
  if (mm.space.find(trampolineIp)?.special !== shared.trampolineMapping)
    return fail(optimiseWrongPlaceErrno ?? 'ENOSYS');
  const sp = regs.read(Reg.Rsp);
  const site = enter(task, sp, form);
  if (site === null || !popShadowStack(task, site + BigInt(form.size))) return refuse(shared, task);
  runAt(shared, task, site);
  if (regs.read(Reg.Rsp) !== userSpOf(sp, form)) {
    // The trampoline's tail would undo it: the task goes on with exactly these registers.
    if (regs.read(Reg.Rip) === site) regs.write(Reg.Rip, site + BigInt(form.size));
    return undefined;
  }
  return leave(task, sp, site, trampolineIp) ? 0n : refuse(shared, task);
};
