/**
 * CPUID of both builds leaves out what every x86-64 CPU has, and glibc's loader refuses to start then
 * ("CPU ISA level is lower than required"); it also promises what is refused here. The instruction cannot
 * be hooked, so the words it answers from are found in memory and put right.
 */
import { Reg } from '../engine.ts';

/** One word of CPUID, and which of its bits to set and to clear (SDM vol. 2, CPUID). */
interface Correction {
  readonly leaf: number;
  readonly register: Reg;
  readonly set: number;
  readonly clear: number;
}

const bits = (...numbers: readonly number[]): number =>
  numbers.reduce((word, bit) => word | (1 << bit), 0);

const CORRECTIONS: readonly Correction[] = [
  // FPU, TSC, MMX
  { leaf: 1, register: Reg.Rdx, set: bits(0, 4, 23), clear: 0 },
  // SSE3
  { leaf: 1, register: Reg.Rcx, set: bits(0), clear: 0 },
  // SYSCALL, NX; RDTSCP, 3DNow
  { leaf: 0x8000_0001, register: Reg.Rdx, set: bits(11, 20), clear: bits(27, 30, 31) },
  // CR8 in 32-bit mode, LZCNT, SKINIT
  { leaf: 0x8000_0001, register: Reg.Rcx, set: 0, clear: bits(4, 5, 12) },
];

/** BMI1, BMI2, ADX, SMAP: they stand in the word after those of leaf 1, asked for or not. */
const LEAF_7_EBX = { set: 0, clear: bits(3, 8, 19, 20) };

/** A corrected word: byte offset from the slot of RAX. */
interface Place extends Pick<Correction, 'set' | 'clear'> {
  readonly at: number;
}
export type FeatureWords = readonly Place[];

/** Bytes after the general registers in which the words are looked for. */
const SEARCHED = 1 << 16;
/** How far the words lie from one another at most. */
const NEAR = 256;

/** What `cpuid` says: the word of one leaf in one register. */
export type Ask = (leaf: number, register: Reg) => number;

/**
 * Finds the words by what CPUID answers. Undefined when they are not there.
 * @param word reads 32 bits at an offset from the slot of RAX
 */
export const findFeatures = (
  word: (offset: number) => number,
  ask: Ask,
): FeatureWords | undefined => {
  const edx = ask(1, Reg.Rdx);
  const ecx = ask(1, Reg.Rcx);
  for (let first = 0; first < SEARCHED; first += 4) {
    if (word(first) !== edx) continue;
    // The words are 32 bits wide in one build and 64 in the other.
    const stride = [4, 8].find((step) => word(first + step) === ecx);
    if (stride === undefined) continue;
    const places = CORRECTIONS.flatMap(({ leaf, register, set, clear }) => {
      const answer = ask(leaf, register);
      for (let at = first; at < first + NEAR; at += stride)
        if (word(at) === answer) return [{ at, set, clear }];
      return [];
    });
    return [...places, { at: first + 2 * stride, ...LEAF_7_EBX }];
  }
  return undefined;
};

/** Puts the words right; `base` is the index of the slot of RAX. */
export const correctFeatures = (words: Int32Array, base: number, features: FeatureWords): void => {
  for (const { at, set, clear } of features) {
    const index = base + at / 4;
    words[index] = (words[index]! | set) & ~clear;
  }
};
