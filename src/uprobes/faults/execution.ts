/** Wrong execution of a rightly judged instruction: emulated, stepped, or left after a fault. */
import { Flag } from '../../abi/traps.ts';
import { u64 } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import { COPY_SIZE } from '../arch/analyse.ts';
import type { Step } from '../core/task-state.ts';
import type { Fault, Faults } from './fault.ts';

type AfterStep = (task: Task, step: Step) => void;

/** What is done wrong when a step has ended by its trap. */
const afterStep = (about: string, spoil: AfterStep): Fault => ({
  about,
  plant: ({ finishStep }) => ({
    finishStep(shared, task, step) {
      finishStep(shared, task, step);
      spoil(task, step);
    },
  }),
});

/** The same when it ended by a fault. */
const afterFault = (about: string, spoil: AfterStep): Fault => ({
  about,
  plant: ({ abortStep }) => ({
    abortStep(task, step) {
      abortStep(task, step);
      spoil(task, step);
    },
  }),
});

/** The scratch register keeps what it was loaded with. */
const keepScratch: AfterStep = ({ regs }, { analysis, site }) => {
  const { scratch } = analysis.stepping;
  if (scratch !== null) regs.write(scratch, site + BigInt(analysis.length));
};

const setTf: AfterStep = ({ regs }) => regs.write(Reg.Rflags, regs.read(Reg.Rflags) | Flag.TF);

/** Another thread's instruction: a nop. */
const SOMEBODY_ELSES = new Uint8Array(COPY_SIZE).fill(0x90);

export const EXECUTION_FAULTS: Faults = {
  'scratch-lost-after-step': afterStep(
    'the scratch register is not restored after a step',
    keepScratch,
  ),
  'scratch-lost-after-fault': afterFault(
    'the scratch register is not restored after a fault in a step',
    keepScratch,
  ),
  'tf-left-after-step': afterStep('TF stays set after a step', setTf),
  'tf-left-after-fault': afterFault('TF stays set after a fault in a step', setTf),
  'operand-based-at-site': {
    about: 'RIP-relative operands are counted from the instruction instead of from its end',
    plant: ({ enterStep }) => ({
      enterStep(shared, task, uprobe, analysis, site) {
        const entered = enterStep(shared, task, uprobe, analysis, site);
        const { scratch } = analysis.stepping;
        if (entered && scratch !== null) task.regs.write(scratch, site);
        return entered;
      },
    }),
  },
  'slot-reused': {
    about: 'a slot is free again, and another instruction in it, before its step has ended',
    plant: ({ enterStep }) => ({
      enterStep(shared, task, uprobe, analysis, site) {
        const entered = enterStep(shared, task, uprobe, analysis, site);
        const { state } = shared.taskState(task);
        const { area } = shared.mmState(task.mm);
        if (!entered || state.kind === 'running' || area === null) return entered;
        area.free(state.slot);
        area.take(SOMEBODY_ELSES);
        return true;
      },
    }),
  },
  'push-sp-decremented': {
    about: 'push %rsp stores sp after the decrement, as the 8086 did',
    plant: ({ emulate }) => ({
      emulate(task, analysis, ip) {
        const { regs, mm } = task;
        const { handling } = analysis;
        const done = emulate(task, analysis, ip);
        if (done && handling.kind === 'push' && handling.register === Reg.Rsp)
          mm.space.writeU64(regs.read(Reg.Rsp), regs.read(Reg.Rsp));
        return done;
      },
    }),
  },
  'call-fault-loses-sp': {
    about: 'an emulated call that cannot push leaves sp lowered',
    plant: ({ emulate }) => ({
      emulate(task, analysis, ip) {
        const { regs } = task;
        const done = emulate(task, analysis, ip);
        if (!done && analysis.handling.kind === 'call')
          regs.write(Reg.Rsp, u64(regs.read(Reg.Rsp) - 8n));
        return done;
      },
    }),
  },
};
