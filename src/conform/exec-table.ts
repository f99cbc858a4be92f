/** A table of recorded instruction runs, in the form of `insn-exec.json`. */
import type { Field } from './fields.ts';
import { type Region, readRegion } from './region.ts';
import { readVectors, type Vectors } from './vectors.ts';

export interface RecordedSignal {
  readonly signo: number;
  readonly code: number;
  /** Null = not compared. */
  readonly addr: string | null;
  readonly ip: string;
  readonly trapno: number;
  readonly err: number;
}

/** State after a run; addresses and registers are `0x…`. */
export interface Recorded {
  readonly regs: Readonly<Record<string, string>>;
  readonly flags: string;
  readonly end: 'cap0' | 'cap1' | null;
  readonly signal?: RecordedSignal;
  /** 32 bytes each; after a signal only the lower 16 (`xmm`). */
  readonly ymm?: readonly string[];
  readonly xmm?: readonly string[];
  readonly k1?: string;
  /** Bytes that differ from the initial ones: address, hex. */
  readonly mem: readonly (readonly [string, string])[];
  readonly hits?: number;
}

export const VARIANTS = ['plain', 'probed', 'probed_x3'] as const;
export type Variant = (typeof VARIANTS)[number];

export interface ExecCase {
  readonly name: string;
  readonly bytes: string;
  readonly entry: string;
  readonly site: string;
  /** Bytes from `entry` on. */
  readonly code: string;
  /** A jump to `cap1`; null where the case has none. */
  readonly alt: string | null;
  readonly regs: Readonly<Record<string, string>>;
  /** Registers that are not deterministic. */
  readonly masked: readonly string[];
  readonly errno: string;
  readonly how: 'emulated' | 'xol' | null;
  readonly optimised: boolean;
  readonly plain: Recorded | null;
  readonly probed: Recorded | null;
  readonly probed_x3: Recorded | null;
}

export interface ExecTable {
  /** Release of the kernel that made it. */
  readonly kernel: string | null;
  readonly cap0: string;
  readonly cap1: string;
  readonly flags: string;
  readonly regions: readonly Region[];
  readonly vectors: Vectors;
  readonly cases: readonly ExecCase[];
}

/** Names of `regs`, in the order of the hardware's numbers. */
export const REGISTERS = [
  ...(['ax', 'cx', 'dx', 'bx', 'sp', 'bp', 'si', 'di'] as const),
  ...(['r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15'] as const),
] as const;

const readRegisters = (field: Field): Record<string, string> =>
  Object.fromEntries(REGISTERS.map((name) => [name, field.at(name).word()]));

const readSignal = (field: Field): RecordedSignal => ({
  signo: field.at('signo').integer(),
  code: field.at('code').integer(),
  addr: field.at('addr').orNull((addr) => addr.word()),
  ip: field.at('ip').word(),
  trapno: field.at('trapno').integer(),
  err: field.at('err').integer(),
});

const readMemory = (field: Field): (readonly [string, string])[] =>
  field.items().map((item) => {
    const [address, bytes] = item.items();
    if (address === undefined || bytes === undefined) return item.fail('an address and its bytes');
    return [address.word(), bytes.hex()] as const;
  });

const optional = <K extends string, T>(key: K, field: Field, read: (field: Field) => T) =>
  (field.at(key).present ? { [key]: read(field.at(key)) } : {}) as { readonly [P in K]?: T };

const vectorsOf = (size: number) => (field: Field) => field.items().map((item) => item.hex(size));

const readRecorded = (field: Field): Recorded => ({
  regs: readRegisters(field.at('regs')),
  flags: field.at('flags').word(),
  end: field.at('end').orNull((end) => end.oneOf('cap0', 'cap1')),
  ...optional('signal', field, readSignal),
  ...optional('ymm', field, vectorsOf(32)),
  ...optional('xmm', field, vectorsOf(16)),
  ...optional('k1', field, (k1) => k1.word()),
  mem: readMemory(field.at('mem')),
  ...optional('hits', field, (hits) => hits.integer()),
});

const readSite = (field: Field): string => {
  const site = field.at('site').word();
  const offset = BigInt(site) - BigInt(field.at('entry').word());
  if (offset < 0n || offset >= BigInt(field.at('code').hex().length / 2))
    field.at('site').fail('an address inside the code');
  return site;
};

const readCase = (field: Field): ExecCase => ({
  name: field.at('name').text(),
  bytes: field.at('bytes').hex(),
  entry: field.at('entry').word(),
  site: readSite(field),
  code: field.at('code').hex(),
  alt: field.at('alt').orNull((alt) => alt.word()),
  regs: readRegisters(field.at('regs')),
  masked: field.at('masked').orNull((masked) => masked.items().map((one) => one.text())) ?? [],
  errno: field.at('errno').text(),
  how: field.at('how').orNull((how) => how.oneOf('emulated', 'xol')),
  optimised: field.at('optimised').flag(),
  plain: field.at('plain').orNull(readRecorded),
  probed: field.at('probed').orNull(readRecorded),
  probed_x3: field.at('probed_x3').orNull(readRecorded),
});

export const readExecTable = (field: Field): ExecTable => ({
  kernel: field.at('kernel').orNull((kernel) => kernel.text()),
  cap0: field.at('cap0').word(),
  cap1: field.at('cap1').word(),
  flags: field.at('flags').word(),
  regions: field.at('regions').items().map(readRegion),
  vectors: readVectors(field.at('vectors')),
  cases: field.at('cases').items().map(readCase),
});
