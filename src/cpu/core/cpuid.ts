import { CAPABILITIES } from './capabilities.ts';

type Output = 'eax' | 'ebx' | 'ecx' | 'edx';
type Leaf = Readonly<Record<Output, number>>;

const bits = (...numbers: readonly number[]): number =>
  numbers.reduce((word, bit) => word | (1 << bit), 0);

const FEATURES_LEAF = 1;
const STRUCTURED_LEAF = 7;
const EXTENDED_LEAF = 0x8000_0001;

/** Where CPUID tells of an extension (SDM vol. 2, CPUID; AMD vol. 3, appendix E). */
const TOLD: Readonly<Record<string, readonly [leaf: number, output: Output, bit: number]>> = {
  SSE3: [FEATURES_LEAF, 'ecx', 0],
  PCLMULQDQ: [FEATURES_LEAF, 'ecx', 1],
  SSSE3: [FEATURES_LEAF, 'ecx', 9],
  CMPXCHG16B: [FEATURES_LEAF, 'ecx', 13],
  SSE4_1: [FEATURES_LEAF, 'ecx', 19],
  SSE4_2: [FEATURES_LEAF, 'ecx', 20],
  MOVBE: [FEATURES_LEAF, 'ecx', 22],
  POPCNT: [FEATURES_LEAF, 'ecx', 23],
  AES: [FEATURES_LEAF, 'ecx', 25],
  FSGSBASE: [STRUCTURED_LEAF, 'ebx', 0],
  BMI1: [STRUCTURED_LEAF, 'ebx', 3],
  BMI2: [STRUCTURED_LEAF, 'ebx', 8],
  ADX: [STRUCTURED_LEAF, 'ebx', 19],
  LZCNT: [EXTENDED_LEAF, 'ecx', 5],
  PREFETCHW: [EXTENDED_LEAF, 'ecx', 8],
};

const told = (leaf: number, output: Output): number =>
  CAPABILITIES.extensions.reduce((word, name) => {
    const place = TOLD[name];
    return place?.[0] === leaf && place[1] === output ? word | (1 << place[2]) : word;
  }, 0);

/** FPU TSC CX8 CMOV CLFSH MMX FXSR SSE SSE2: the x86-64 baseline. */
const BASELINE = bits(0, 4, 8, 15, 19, 23, 24, 25, 26);
/** SYSCALL NX LM */
const LONG_MODE = bits(11, 20, 29);
/** LAHF in 64-bit mode */
const LAHF = bits(0);

const ascii = (text: string): number =>
  [...text].reduce((word, letter, i) => word | (letter.charCodeAt(0) << (8 * i)), 0);

const NOTHING: Leaf = { eax: 0, ebx: 0, ecx: 0, edx: 0 };

const LEAVES: Readonly<Record<number, Leaf>> = {
  0: { eax: STRUCTURED_LEAF, ebx: ascii('Auth'), edx: ascii('enti'), ecx: ascii('cAMD') },
  // family 17h, CLFLUSH line of 8 quadwords
  [FEATURES_LEAF]: { eax: 0x0080_0f00, ebx: 8 << 8, ecx: told(1, 'ecx'), edx: BASELINE },
  [STRUCTURED_LEAF]: { ...NOTHING, ebx: told(STRUCTURED_LEAF, 'ebx') },
  2147483648: { eax: 0x8000_0008, ebx: ascii('Auth'), edx: ascii('enti'), ecx: ascii('cAMD') },
  [EXTENDED_LEAF]: {
    eax: 0x0080_0f00,
    ebx: 0,
    ecx: LAHF | told(EXTENDED_LEAF, 'ecx'),
    edx: LONG_MODE,
  },
  // L1 of 32 KiB, 8 ways, lines of 64; L2 of 512 KiB, L3 of 8 MiB: libc sizes its copies by them
  2147483653: { ...NOTHING, ecx: (32 << 24) | (8 << 16) | (1 << 8) | 64, edx: 0x2008_0140 },
  2147483654: {
    ...NOTHING,
    ecx: (512 << 16) | (6 << 12) | (1 << 8) | 64,
    edx: (16 << 18) | (9 << 12) | (1 << 8) | 64,
  },
  // 48-bit addresses, both kinds
  2147483656: { ...NOTHING, eax: 0x3030 },
};

/** What CPUID answers. Only what executes is told of. */
export const cpuidLeaf = (leaf: number, subleaf: number): Leaf =>
  leaf === STRUCTURED_LEAF && subleaf !== 0 ? NOTHING : (LEAVES[leaf] ?? NOTHING);
