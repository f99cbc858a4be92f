import { Formatter, FormatterSyntax, type Instruction, Register } from 'iced-x86';
import { rflagsOf } from '../../../src/x86/undefined-flags.ts';
import type { Outcome } from '../native/case.ts';

/** Flags that the manual leaves undefined after an instruction, as iced-x86's tables have them. */
export const undefinedFlags = (instruction: Instruction): bigint =>
  rflagsOf(instruction.rflagsUndefined);

/** Flags an instruction gives a defined value, and flags it depends on. */
export const definedFlags = (instruction: Instruction): bigint =>
  // A shift by CL changes nothing if that is 0.
  instruction.opCount > 1 && instruction.opRegister(instruction.opCount - 1) === Register.CL
    ? 0n
    : rflagsOf(instruction.rflagsWritten | instruction.rflagsCleared | instruction.rflagsSet);
export const readFlags = (instruction: Instruction): bigint => rflagsOf(instruction.rflagsRead);

/** RF, which the kernel shows set after a fault. */
const RF = 0x1_0000n;
const FX_COMPARED = [
  [0, 5],
  [24, 28],
  [32, 42],
  [48, 58],
  [64, 74],
  [80, 90],
  [96, 106],
  [112, 122],
  [128, 138],
  [144, 154],
  [160, 416],
] as const;

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const bytes = (array: Uint8Array, start: number, end: number): string =>
  Buffer.from(array.subarray(start, end)).toString('hex');

/** Lines that tell the two sides apart; none = equal. `masked` flags do not count. */
export const differences = (native: Outcome, ours: Outcome, masked: bigint): string[] => {
  const found: string[] = [];
  const say = (what: string, theirs: string, mine: string): void => {
    if (theirs !== mine) found.push(`${what}: CPU ${theirs}, ours ${mine}`);
  };
  say('end', native.end, ours.end);
  say('rip', hex(native.rip), hex(ours.rip));
  say('address', hex(native.address), hex(ours.address));
  for (let i = 0; i < 16; i++) say(`r${i}`, hex(native.gpr[i]!), hex(ours.gpr[i]!));
  const compared = ~(masked | RF);
  say('flags', hex(native.flags & compared), hex(ours.flags & compared));
  for (const [start, end] of FX_COMPARED)
    say(`fx+${start}`, bytes(native.fx, start, end), bytes(ours.fx, start, end));
  for (let at = 0; at < native.window.length; at += 16)
    say(`window+${at}`, bytes(native.window, at, at + 16), bytes(ours.window, at, at + 16));
  return found;
};

const formatter = new Formatter(FormatterSyntax.Nasm);
export const textOf = (instruction: Instruction): string => formatter.format(instruction);
