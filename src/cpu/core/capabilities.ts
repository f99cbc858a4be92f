import type { Capabilities } from '../engine.ts';

/** What executes beyond x86-64-v1, by iced-x86's names; `test/core/coverage.test.ts` compares it with the rows. */
export const EXTENSIONS = [
  'CMPXCHG16B',
  'POPCNT',
  'MOVBE',
  'LZCNT',
  'BMI1',
  'BMI2',
  'ADX',
  'FSGSBASE',
  'PREFETCHW',
  'CET_IBT',
] as const;

/** What ordinary programs of the x86-64 baseline, or of v2, have besides. */
export const LACKS = ['SSE3', 'SSSE3', 'SSE4_1', 'SSE4_2', 'AES'] as const;

export const CAPABILITIES: Capabilities = {
  avx: false,
  extensions: EXTENSIONS,
  lacks: LACKS,
  knownWrong: [
    'Alignment checks by EFLAGS.AC do not happen.',
    'RDTSC counts instructions.',
    'rcpps, rcpss, rsqrtps and rsqrtss approximate otherwise than a given CPU.',
    'fsin, fcos, fsincos, fptan, fpatan, f2xm1, fyl2x and fyl2xp1 are refused.',
    'The x87 environment names no last instruction and operand: its pointers are 0.',
  ],
};
