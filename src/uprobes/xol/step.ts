/**
 * One instruction out of line: enter, and leave after its trap or without it (spec sections 3.5 to
 * 3.8). Single-stepping is by EFLAGS.TF, as on the real kernel: pushf shows it.
 */
import { u64 } from '../../base/bytes.ts';
import { Reg, type Reg as RegIndex } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { Accepted } from '../arch/analysis.ts';
import { pushWord } from '../arch/emulate.ts';
import type { Shared } from '../core/shared.ts';
import { sendTrap } from '../core/signals.ts';
import { RUNNING, type Step, type TaskState } from '../core/task-state.ts';
import type { Uprobe } from '../core/uprobe.ts';
import { areaOf } from './area.ts';

/** What thread.trap_nr holds during a step: a trap replaces it. */
export const NO_TRAP = 0xffffffffn;

const stepOf = (taskState: TaskState, uprobe: Uprobe, analysis: Accepted): Step => {
  taskState.spareStep ??= {
    kind: 'stepping',
    uprobe,
    analysis,
    site: 0n,
    slot: 0,
    slotAddress: 0n,
    scratchValue: 0n,
    savedTrapNumber: 0n,
    savedTf: false,
  };
  return taskState.spareStep;
};

/** The scratch register stands in for ip: it gets the address of the next instruction. */
const loadScratch = (task: Task, step: Step, scratch: RegIndex): void => {
  step.scratchValue = task.regs.read(scratch);
  task.regs.write(scratch, step.site + BigInt(step.analysis.length));
};

const restoreScratch = (task: Task, { analysis, scratchValue }: Step): void => {
  const { scratch } = analysis.stepping;
  if (scratch !== null) task.regs.write(scratch, scratchValue);
};

/**
 * pre_ssout. False when there is no slot to be had or the uprobe is going: ip stays at the
 * breakpoint, which is then hit again.
 */
export const enterStep = (
  shared: Shared,
  task: Task,
  uprobe: Uprobe,
  analysis: Accepted,
  site: bigint,
): boolean => {
  if (uprobe.references === 0) return false;
  const area = areaOf(shared, shared.mmState(task.mm));
  const slot = area?.take(analysis.stepping.bytes) ?? null;
  if (area === null || slot === null) return false;
  uprobe.references++;
  const taskState = shared.taskState(task);
  const step = stepOf(taskState, uprobe, analysis);
  step.kind = 'stepping';
  step.uprobe = uprobe;
  step.analysis = analysis;
  step.site = site;
  step.slot = slot;
  step.slotAddress = area.slotAddress(slot);
  if (analysis.stepping.scratch !== null) loadScratch(task, step, analysis.stepping.scratch);
  task.regs.write(Reg.Rip, step.slotAddress);
  step.savedTrapNumber = task.trapNumber;
  task.trapNumber = NO_TRAP;
  step.savedTf = task.regs.trapFlag;
  task.regs.trapFlag = true;
  taskState.state = step;
  return true;
};

/** Puts ip right after a step; false when the whole instruction must be retried. */
const repairIp = ({ profile }: Shared, task: Task, step: Step): boolean => {
  const { regs } = task;
  const { length, stepping } = step.analysis;
  switch (stepping.ipFixup) {
    case 'ip':
      regs.write(Reg.Rip, u64(regs.read(Reg.Rip) + step.site - step.slotAddress));
      return true;
    case 'call': {
      // The slot pushed its own address: drop it, push the right one.
      const sp = u64(regs.read(Reg.Rsp) + 8n);
      regs.write(Reg.Rsp, sp);
      const next = step.site + BigInt(length);
      if (!pushWord(task, sp, next)) return false;
      if (profile.callEmulationShadowStack) task.mm.engine.shadowStack?.replaceTop(next);
      return true;
    }
    case 'retry':
      regs.write(Reg.Rsp, u64(regs.read(Reg.Rsp) + 8n));
      return false;
    case 'none':
      return true;
  }
};

const clearTf = ({ regs }: Task): void => {
  regs.trapFlag = false;
};

/** The single-step trap came. */
export const finishStep = (shared: Shared, task: Task, step: Step): void => {
  const { stepping } = step.analysis;
  restoreScratch(task, step);
  const done = repairIp(shared, task, step);
  if (!done) task.regs.write(Reg.Rip, step.site);
  if (step.savedTf && done) sendTrap(shared, task);
  if (!step.savedTf && !(done && stepping.keepTf)) clearTf(task);
};

/** The instruction faulted, or the task is being killed: as if it had not begun. */
export const abortStep = (task: Task, step: Step): void => {
  restoreScratch(task, step);
  task.regs.write(Reg.Rip, step.site);
  if (!step.savedTf) clearTf(task);
};

const release = (shared: Shared, task: Task, step: Step): void => {
  shared.taskState(task).state = RUNNING;
  shared.mmState(task.mm).area?.free(step.slot);
  shared.release(step.uprobe);
};

/** The task ends in mid-step; its registers are nobody's any more. */
export const abandonStep = release;

/** handle_singlestep. Preconditions: the step is `stepped` or `trapped`. */
export const leaveStep = (shared: Shared, task: Task, step: Step): void => {
  task.trapNumber = step.savedTrapNumber;
  if (step.kind === 'stepped') shared.rules.finishStep(shared, task, step);
  else shared.rules.abortStep(task, step);
  shared.counters.singleSteps++;
  release(shared, task, step);
};
