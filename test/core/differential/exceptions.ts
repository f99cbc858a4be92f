/** What comparisons with a CPU leave out, and why: results the manual leaves undefined, and what a case cannot hold. */
import type { Instruction } from 'iced-x86';
import { Mnemonic, OpKind } from 'iced-x86';
import type { Form } from '../../../src/x86/forms.ts';
import type { State } from '../native/case.ts';

/** Instructions that other tests cover. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  Cpuid: 'tells what the engine is, not what this CPU is',
  Rdtsc: 'counts instructions, not cycles',
  Syscall: 'would call this kernel',
  Int: 'goes to this kernel',
  Int3: 'is how a case ends',
  Int1: 'is how a case ends',
  Fxsave: 'stores MXCSR_MASK, in which AMD has a bit of its own',
  Fxsave64: 'stores MXCSR_MASK, in which AMD has a bit of its own',
  Rcpps: 'approximates, each CPU in its own way',
  Rcpss: 'approximates, each CPU in its own way',
  Rsqrtps: 'approximates, each CPU in its own way',
  Rsqrtss: 'approximates, each CPU in its own way',
  Popf: 'could set TF',
  Popfq: 'could set TF',
  Wrfsbase: 'would move the runner’s own thread data',
  Wrgsbase: 'not in every kernel',
  Rdfsbase: 'differs by nature',
  Rdgsbase: 'differs by nature',
};

export const isLeftOut = (mnemonic: string): boolean => Object.hasOwn(LEFT_OUT, mnemonic);

const DOUBLE: ReadonlySet<number> = new Set([Mnemonic.Shld, Mnemonic.Shrd]);

/** SHLD and SHRD of 16 bits by more than 16: undefined (SDM vol. 2). */
const isWideDouble = (instruction: Instruction, state: State): boolean => {
  if (!DOUBLE.has(instruction.mnemonic)) return false;
  const info = instruction.opCode;
  const size = info.operandSize;
  info.free();
  const count =
    instruction.opKind(2) === OpKind.Immediate8
      ? instruction.immediate8
      : Number((state.gpr[1] ?? 0n) & 0xffn);
  return size === 16 && (count & 31) > 16;
};

export const isUndefinedCase = (instruction: Instruction, state: State): boolean =>
  isWideDouble(instruction, state);

/** Control goes elsewhere: not in the middle of a sequence. */
export const isTransfer = ({ mnemonic }: Form): boolean =>
  /^(J[a-z]+|Call|Ret|Loop(n?e)?|Ud[012])$/.test(mnemonic);

/** Forms whose result the manual leaves undefined for some operands, or that store x87's pointers, which we do not keep. */
export const mayBeUndefined = ({ name, mnemonic }: Form): boolean =>
  /^Sh[lr]d_rm16/.test(name) || /^(Bsf|Bsr|Bswap|Fn?(stenv|save))$/.test(mnemonic);
