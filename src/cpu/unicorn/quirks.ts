/** What the two builds of Unicorn cannot do, as data; docs/engines.md has the story of each. */
import type { Quirks } from './inspect.ts';

/** Extensions that both execute. */
const FEATURES = [
  'INTEL8086',
  'INTEL186',
  'INTEL286',
  'INTEL386',
  'INTEL486',
  'X64',
  'FPU',
  'FPU287',
  'FPU387',
  'CMOV',
  'CPUID',
  'CX8',
  'CMPXCHG16B',
  'FXSR',
  'MMX',
  'SSE',
  'SSE2',
  'SSE3',
  'SSSE3',
  'SSE4_1',
  'SSE4_2',
  'AES',
  'CLFSH',
  'MULTIBYTENOP',
  'PAUSE',
  'PREFETCHW',
  'SYSCALL',
  'TSC',
  'CET_IBT',
  'LZCNT',
  'BMI1',
  'BMI2',
  'ADX',
] as const;

export const JAVASCRIPT_QUIRKS: Quirks = {
  features: new Set(FEATURES),
  refused: new Set(['pextrw', 'psignd', 'andn', 'blsr']),
  first: new Set(['div', 'idiv']),
  faultsDamage: true,
};

export const NATIVE_QUIRKS: Quirks = {
  features: new Set(FEATURES),
  refused: new Set(['psignd', 'andn', 'blsr']),
  first: new Set(),
  faultsDamage: false,
};
