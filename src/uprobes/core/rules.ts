/**
 * The mechanism of uprobes as a table of its parts. Every machine has a copy of its own, through
 * which the parts call one another: tests and the fuzzer replace an entry by a wrong version and see
 * who notices (`../testing.ts`). Nothing else ever changes the table.
 */
import { analyse } from '../arch/analyse.ts';
import { emulate } from '../arch/emulate.ts';
import { FORMS, type Forms } from '../trampoline/forms.ts';
import { optimisedTrampoline } from '../trampoline/optimised-page.ts';
import { optimiseSteps, unoptimiseSteps } from '../trampoline/patch.ts';
import { REACH } from '../trampoline/placement.ts';
import { returnTrampoline } from '../trampoline/return-page.ts';
import { uprobeSyscall } from '../trampoline/uprobe-syscall.ts';
import { uretprobeSyscall } from '../trampoline/uretprobe-syscall.ts';
import { abortStep, enterStep, finishStep } from '../xol/step.ts';
import { runEntryHandlers } from './entry-handlers.ts';
import { arm, handleTrampoline, isAlive } from './return-instances.ts';
import { storeText } from './text.ts';

export interface Rules {
  // An instruction is judged and executed.
  analyse: typeof analyse;
  emulate: typeof emulate;
  enterStep: typeof enterStep;
  finishStep: typeof finishStep;
  abortStep: typeof abortStep;
  // A function is entered and left.
  runEntryHandlers: typeof runEntryHandlers;
  arm: typeof arm;
  isAlive: typeof isAlive;
  handleTrampoline: typeof handleTrampoline;
  returnTrampoline: typeof returnTrampoline;
  uretprobeSyscall: typeof uretprobeSyscall;
  // A site becomes a call and a nop again.
  forms: Forms;
  reach: bigint;
  optimisedTrampoline: typeof optimisedTrampoline;
  optimiseSteps: typeof optimiseSteps;
  unoptimiseSteps: typeof unoptimiseSteps;
  uprobeSyscall: typeof uprobeSyscall;
  storeText: typeof storeText;
}

export const RULES: Readonly<Rules> = {
  analyse,
  emulate,
  enterStep,
  finishStep,
  abortStep,
  runEntryHandlers,
  arm,
  isAlive,
  handleTrampoline,
  returnTrampoline,
  uretprobeSyscall,
  forms: FORMS,
  reach: REACH,
  optimisedTrampoline,
  optimiseSteps,
  unoptimiseSteps,
  uprobeSyscall,
  storeText,
};
