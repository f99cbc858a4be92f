/**
 * The documented door for tests: look at intermediate states that no program could hold still.
 * Nothing outside tests and the fuzzer imports it.
 */
import type { TextWrite } from './core/shared.ts';
import { sharedStateOf, type Uprobes } from './core/uprobes.ts';

export type { TextWrite } from './core/shared.ts';

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
