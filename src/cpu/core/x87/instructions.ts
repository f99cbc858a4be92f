import { ARITHMETIC_INSTRUCTIONS } from './arithmetic.ts';
import { COMPARE_INSTRUCTIONS } from './compare.ts';
import { CONTROL_INSTRUCTIONS } from './control.ts';
import type { X87Table } from './instruction.ts';
import { REMAINDER_INSTRUCTIONS } from './remainder.ts';
import { STORE_INSTRUCTIONS } from './store.ts';

/** What each x87 instruction does to the stack, by the name of its form. */
export const X87: Readonly<X87Table> = {
  ...ARITHMETIC_INSTRUCTIONS,
  ...COMPARE_INSTRUCTIONS,
  ...CONTROL_INSTRUCTIONS,
  ...REMAINDER_INSTRUCTIONS,
  ...STORE_INSTRUCTIONS,
};
