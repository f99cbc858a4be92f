/** What the two builds of Unicorn cannot do, as data; docs/engines.md has the story of each. */
import type { Capabilities } from '../engine.ts';
import type { Quirks } from './inspect.ts';

/** `iretd` may enter virtual-8086 mode, of which long mode has none; nobody returns by it or by `iret`. */
const RETURNS = ['iret', 'iretd'] as const;

/** What every x86-64 CPU has. */
const BASELINE = [
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
  'FXSR',
  'MMX',
  'SSE',
  'SSE2',
  'MULTIBYTENOP',
  'PAUSE',
  'SYSCALL',
  'TSC',
  'CLFSH',
] as const;

/** What both execute beyond it. */
const EXTENSIONS = [
  'CMPXCHG16B',
  'SSE3',
  'SSSE3',
  'SSE4_1',
  'SSE4_2',
  'AES',
  'PREFETCHW',
  'CET_IBT',
] as const;

/** To a CPU without these, `tzcnt` and `lzcnt` are `bsf` and `bsr`: CPUID says so, and they are let through. */
const IGNORED = ['LZCNT', 'BMI1'] as const;
/** What BMI1 has besides. */
const BMI1_VEX = ['andn', 'bextr', 'blsi', 'blsmsk', 'blsr'] as const;
/** What ordinary programs of x86-64-v2 have, and both lack. */
const LACKS = ['POPCNT'] as const;

export const JAVASCRIPT_QUIRKS: Quirks = {
  features: new Set([...BASELINE, ...EXTENSIONS, ...IGNORED]),
  refused: new Set(['pextrw', 'psignd', ...BMI1_VEX, ...RETURNS]),
  first: new Set(['div', 'idiv']),
  faultsDamage: true,
};

export const NATIVE_QUIRKS: Quirks = {
  features: new Set([...BASELINE, ...EXTENSIONS, ...IGNORED]),
  refused: new Set(['psignd', ...BMI1_VEX, ...RETURNS]),
  first: new Set(),
  faultsDamage: false,
};

const SHARED_WRONG = [
  'SSE instructions never set exception flags in MXCSR, and never trap.',
  'An unmasked x87 exception traps at fwait only, not at the next waiting instruction.',
  'rcpps, rcpss, rsqrtps and rsqrtss give the exact result instead of an approximation.',
  'fsin, fcos, fptan, fpatan, f2xm1, fyl2x and fyl2xp1 round like the host’s double precision.',
  'fist and fistp of values out of range, and corner cases of fprem, differ.',
  'An MMX write leaves bits 64-79 of the register as they were.',
  'RDTSC counts nothing in particular; CPUID is the library’s own.',
  'Alignment checks by EFLAGS.AC do not happen.',
  'psignd is refused although it belongs to SSSE3.',
] as const;

export const JAVASCRIPT_CAPABILITIES: Capabilities = {
  avx: false,
  extensions: EXTENSIONS,
  lacks: LACKS,
  knownWrong: [...SHARED_WRONG, 'pextrw is refused although it belongs to SSE2.'],
};

export const NATIVE_CAPABILITIES: Capabilities = {
  avx: false,
  extensions: EXTENSIONS,
  lacks: LACKS,
  knownWrong: SHARED_WRONG,
};
