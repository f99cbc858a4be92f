/** Registers and memory operands of generated instructions, in the encoding of SDM vol. 2, chapter 2. */
import type { Random } from '../random.ts';
import { le } from './assembler.ts';

const REX = { b: 0x41, x: 0x42, r: 0x44, w: 0x48 } as const;

/** Registers that generated code overwrites freely: none that holds a pointer, for wild accesses cost most of the time. */
const FREE = [0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15] as const;
/** Registers that point into the data: bp, which nobody overwrites, and now and then si, di and bx. */
const POINTERS = [5, 5, 5, 5, 5, 5, 6, 7, 3] as const;

export const freeRegister = (random: Random): number => random.pick(FREE);
export const anyRegister = (random: Random): number => random.pick([...FREE, 4, 5]);

/** Prefix, opcode and modrm of an instruction on two registers. */
export const onRegisters = (
  opcode: readonly number[],
  reg: number,
  rm: number,
  wide: boolean,
): number[] => {
  const rex = (wide ? REX.w : 0) | (reg > 7 ? REX.r : 0) | (rm > 7 ? REX.b : 0);
  return [...(rex === 0 ? [] : [rex]), ...opcode, 0xc0 | ((reg & 7) << 3) | (rm & 7)];
};

/** An operand in memory: everything behind the opcode, and the REX bits it needs. */
export interface MemoryOperand {
  readonly rex: number;
  readonly modrm: readonly number[];
}

/** disp8(%pointer). */
export const dataOperand = (random: Random, reg: number): MemoryOperand => {
  const base = random.pick(POINTERS);
  const displacement = 8 * random.below(16);
  return { rex: reg > 7 ? REX.r : 0, modrm: [0x40 | ((reg & 7) << 3) | base, displacement] };
};

/** -8*slot(%rsp): the red zone. */
export const redZoneOperand = (reg: number, slot: number): MemoryOperand => ({
  rex: reg > 7 ? REX.r : 0,
  modrm: [0x44 | ((reg & 7) << 3), 0x24, (-8 * slot) & 0xff],
});

/**
 * disp32(%rip). The displacement counts from the instruction's end: `end` is the address there.
 * @param idle sets the REX bits that mean nothing here
 */
export const ripOperand = (
  reg: number,
  target: number,
  end: number,
  idle: boolean,
): MemoryOperand => ({
  rex: (reg > 7 ? REX.r : 0) | (idle ? REX.b : 0),
  modrm: [((reg & 7) << 3) | 5, ...le(target - end, 4)],
});

/** An instruction with a memory operand; `prefixes` stand before REX. */
export const onMemory = (
  opcode: readonly number[],
  { rex, modrm }: MemoryOperand,
  { wide = true, prefixes = [] }: { wide?: boolean; prefixes?: readonly number[] } = {},
): number[] => {
  const bits = rex | (wide ? REX.w : 0);
  return [...prefixes, ...(bits === 0 ? [] : [bits]), ...opcode, ...modrm];
};
