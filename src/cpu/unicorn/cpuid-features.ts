/**
 * CPUID of both builds leaves out what every x86-64 CPU has, and glibc's loader refuses to start then
 * ("CPU ISA level is lower than required"); it also promises what is refused here. The instruction cannot
 * be hooked, so the words it answers from are found in memory and put right.
 */
import { Reg } from '../engine.ts';

/** One word of CPUID, and which of its bits to set and to clear (SDM vol. 2, CPUID). */
interface Correction {
  /** Where {@link ASK_FEATURES} leaves the word. */
  readonly answer: Reg;
  readonly set: number;
  readonly clear: number;
}

const bits = (...numbers: readonly number[]): number =>
  numbers.reduce((word, bit) => word | (1 << bit), 0);

const CORRECTIONS: readonly Correction[] = [
  // FPU, TSC, MMX
  { answer: Reg.Rsi, set: bits(0, 4, 23), clear: 0 },
  // SSE3
  { answer: Reg.Rdi, set: bits(0), clear: 0 },
  // SYSCALL, NX; RDTSCP, 3DNow
  { answer: Reg.Rdx, set: bits(11, 20), clear: bits(27, 30, 31) },
  // CR8 in 32-bit mode, LZCNT, SKINIT
  { answer: Reg.Rcx, set: 0, clear: bits(4, 5, 12) },
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

/**
 * Asks for both leaves at once; the answers of leaf 1 end in esi (edx) and edi (ecx):
 * mov eax,1; cpuid; mov esi,edx; mov edi,ecx; mov eax,0x80000001; cpuid; int3
 */
export const ASK_FEATURES = [
  ...[0xb8, 1, 0, 0, 0, 0x0f, 0xa2, 0x89, 0xd6, 0x89, 0xcf],
  ...[0xb8, 1, 0, 0, 0x80, 0x0f, 0xa2, 0xcc],
];

/**
 * Finds the words by what CPUID has answered. Undefined when they are not there.
 * Preconditions: {@link ASK_FEATURES} has just run.
 * @param word reads 32 bits at an offset from the slot of RAX
 */
export const findFeatures = (word: (offset: number) => number): FeatureWords | undefined => {
  const edx = word(8 * Reg.Rsi);
  const ecx = word(8 * Reg.Rdi);
  // The general registers come first and hold the answers too.
  for (let first = 8 * 16; first < SEARCHED; first += 4) {
    if (word(first) !== edx) continue;
    // The words are 32 bits wide in one build and 64 in the other.
    const stride = [4, 8].find((step) => word(first + step) === ecx);
    if (stride === undefined) continue;
    const places = CORRECTIONS.flatMap(({ answer, set, clear }) => {
      for (let at = first; at < first + NEAR; at += stride)
        if (word(at) === word(8 * answer)) return [{ at, set, clear }];
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
