/**
 * The documented door for tests: intermediate states that no program could hold still, and faults
 * that can be planted in one machine. Nothing outside tests and the fuzzer imports it.
 */
import type { TextWrite } from './core/shared.ts';
import { sharedStateOf, type Uprobes } from './core/uprobes.ts';
import { ANALYSIS_FAULTS } from './faults/analysis.ts';
import { EXECUTION_FAULTS } from './faults/execution.ts';
import type { Faults } from './faults/fault.ts';
import { HANDLER_FAULTS } from './faults/handlers.ts';
import { OPTIMISED_FAULTS } from './faults/optimised.ts';
import { TEXT_FAULTS } from './faults/text.ts';

export type { TextWrite } from './core/shared.ts';
export type { Fault } from './faults/fault.ts';

/**
 * Calls `listener` after every single write of program text: the breakpoint, each step of turning a
 * site into a call and back, restored bytes. The memory holds the intermediate state then.
 * @returns a function that ends it
 */
export const watchTextWrites = (
  uprobes: Uprobes,
  listener: (write: TextWrite) => void,
): (() => void) => {
  const shared = sharedStateOf(uprobes);
  shared.testHooks = { ...shared.testHooks, textWritten: listener };
  return () => {
    const { textWritten: _, ...others } = shared.testHooks;
    shared.testHooks = others;
  };
};

/** Mistakes that can be planted, by name: what is wrong, and under which profiles it can show. */
export const FAULTS: Faults = {
  ...ANALYSIS_FAULTS,
  ...EXECUTION_FAULTS,
  ...HANDLER_FAULTS,
  ...OPTIMISED_FAULTS,
  ...TEXT_FAULTS,
};

export const FAULT_NAMES: readonly string[] = Object.keys(FAULTS);

/**
 * Makes this one machine do something wrong. Preconditions: no probe has been attached yet, since
 * judgements and trampoline pages are made once; one fault at a time.
 * @returns a function that makes it right again, for what is attached afterwards
 */
export const plantFault = (uprobes: Uprobes, name: string): (() => void) => {
  const fault = FAULTS[name];
  if (fault === undefined) throw new TypeError(`no fault is called ${name}`);
  const { rules } = sharedStateOf(uprobes);
  const right = { ...rules };
  const cleanUps: (() => void)[] = [];
  Object.assign(
    rules,
    fault.plant(right, (cleanUp) => cleanUps.push(cleanUp)),
  );
  return () => {
    Object.assign(rules, right);
    for (const cleanUp of cleanUps.splice(0)) cleanUp();
  };
};
