/** A form with its choices made: what one handler is for. */
import type { Form, OperandForm, RegisterFileName } from '../../../x86/forms.ts';

export interface VariantOperand {
  readonly kind: 'register' | 'memory' | 'immediate' | 'other';
  readonly file: RegisterFileName | null;
  readonly bits: number;
}

/**
 * What differs at run time within one form: `memory` and how it is addressed, or how a string instruction is
 * repeated.
 */
export type Choice = 0 | 1 | 2;
export const CHOICES = 3;
/** Register operands, or a string instruction without prefix. */
export const PLAIN = 0;
/** Base and displacement only, or REP. */
export const SIMPLE_MEMORY = 1;
export const REP = 1;
/** Anything, or REPNE. */
export const FULL_MEMORY = 2;
export const REPNE = 2;

export interface Variant {
  readonly form: Form;
  readonly choice: Choice;
  readonly operands: readonly VariantOperand[];
}

const operandOf = (operand: OperandForm, memory: boolean): VariantOperand => {
  if (operand.memory && memory) return { kind: 'memory', file: null, bits: operand.memoryBits };
  if (operand.immediate) return { kind: 'immediate', file: null, bits: operand.bits };
  if (operand.register === null) return { kind: 'other', file: null, bits: operand.bits };
  return { kind: 'register', file: operand.register, bits: operand.bits };
};

/** String instructions repeat; their operands are implied. */
export const STRINGS: ReadonlySet<string> = new Set(
  ['Movs', 'Cmps', 'Stos', 'Lods', 'Scas', 'Ins', 'Outs'].flatMap((name) =>
    ['b', 'w', 'd', 'q'].map((size) => name + size),
  ),
);

/** Movsd and Cmpsd are SSE instructions too. */
export const isString = (form: Form): boolean =>
  STRINGS.has(form.mnemonic) && !form.name.includes('xmm');

/** The variants that can occur. */
export const variantsOf = (form: Form): Variant[] => {
  const make = (choice: Choice, memory: boolean): Variant => ({
    form,
    choice,
    operands: form.operands.map((operand) => operandOf(operand, memory)),
  });
  if (isString(form)) return [make(0, false), make(1, false), make(2, false)];
  const memory = form.operands.find((operand) => operand.memory);
  if (memory === undefined) return [make(PLAIN, false)];
  const both = [make(SIMPLE_MEMORY, true), make(FULL_MEMORY, true)];
  return memory.register === null ? both : [make(PLAIN, false), ...both];
};
