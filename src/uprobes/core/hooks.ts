/** What uprobes ask of the kernel layer: the traps, the way back to user code, signals, mappings. */
import { Sig } from '../../abi/signals.ts';
import { Reg } from '../../cpu/engine.ts';
import type { KernelHooks } from '../../kernel/hooks.ts';
import type { Task } from '../../kernel/task.ts';
import { abandonStep, leaveStep, NO_TRAP } from '../xol/step.ts';
import { handleBreakpoint } from './hit.ts';
import { mapped, unmapping } from './mappings.ts';
import { dropInstances } from './return-instances.ts';
import type { Shared } from './shared.ts';
import type { Step, TaskState } from './task-state.ts';

const stepOf = (taskState: TaskState | undefined): Step | null =>
  taskState === undefined || taskState.state.kind === 'running' ? null : taskState.state;

/** An engine that traps right after a syscall is early; the CPU would run one more instruction. */
const hasOnlyEnteredKernel = (task: Task, { analysis, slotAddress }: Step): boolean =>
  analysis.stepping.trapsLate && task.regs.read(Reg.Rip) === slotAddress + BigInt(analysis.length);

/** Signals whose si_addr is the faulting instruction. */
const NAMES_INSTRUCTION: ReadonlySet<number> = new Set([Sig.SIGILL, Sig.SIGFPE]);

/** Pending returns and the running step go with the task, or with its old program. */
const forgetTask = (shared: Shared, task: Task): void => {
  const taskState = shared.findTaskState(task);
  if (taskState === undefined) return;
  const step = stepOf(taskState);
  if (step !== null) abandonStep(shared, task, step);
  dropInstances(shared, taskState);
  shared.dropTaskState(task);
};

export const kernelHooks = (shared: Shared): KernelHooks => ({
  breakpoint(task) {
    const { hasUprobes } = shared.mmState(task.mm);
    const pending = shared.findTaskState(task)?.instances.length ?? 0;
    if (!hasUprobes && pending === 0) return false;
    task.notifyResume = true;
    return true;
  },
  debugTrap(task) {
    const step = stepOf(shared.findTaskState(task));
    if (step === null) return false;
    if (hasOnlyEnteredKernel(task, step)) return true;
    step.kind = 'stepped';
    task.notifyResume = true;
    return true;
  },
  returnToUser(task) {
    const step = stepOf(shared.findTaskState(task));
    if (step === null) handleBreakpoint(shared, task);
    else leaveStep(shared, task, step);
  },
  maySignal(task, fatal) {
    const step = stepOf(shared.findTaskState(task));
    if (step === null) return true;
    if (fatal || task.trapNumber !== NO_TRAP) {
      step.kind = 'trapped';
      task.notifyResume = true;
    }
    return false;
  },
  faultSignal(task, info) {
    const step = stepOf(shared.findTaskState(task));
    if (step !== null && NAMES_INSTRUCTION.has(info.signal)) info.address = step.site;
  },
  vmaMapped: (mm, vma) => mapped(shared, mm, vma),
  vmaUnmapping: (mm, start, end) => unmapping(shared, mm, start, end),
  exec: (task) => forgetTask(shared, task),
  exit: (task) => forgetTask(shared, task),
});
