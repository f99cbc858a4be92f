/**
 * Instructions to be executed, plain and probed, beside the 285 of `insn-exec`: every opcode of the
 * legacy maps in several forms, groups whole, prefixes, and vector instructions whose opcode byte
 * means something else to the kernel. The list is the same in every run.
 */
import { Scanner } from '../../src/x86/decode.ts';

type Bytes = readonly number[];

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Where `exec-record.c` puts the case, and the memory that RIP-relative operands name. */
const FIRST = 0x401000;
const STRIDE = 64;
const TARGET = 0x702300;

const FILLER: Bytes = [0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/** %rbx; (%rbx); 0x10(%rbx); 8(%rsp); RIP-relative. */
const FORMS: Readonly<Record<string, (reg: number) => Bytes>> = {
  register: (reg) => [0xc3 | (reg << 3)],
  memory: (reg) => [0x03 | (reg << 3)],
  displaced: (reg) => [0x43 | (reg << 3), 0x10],
  stack: (reg) => [0x44 | (reg << 3), 0x24, 0x08],
};

/** Marks a RIP-relative operand until its place is known. */
const RIP = -1;
const ripRelative = (reg: number): Bytes => [0x05 | (reg << 3), RIP, 0, 0, 0];

const PP: readonly Bytes[] = [[], [0x66], [0xf3], [0xf2]];
const NOT_OPCODES = new Set([
  ...[0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67],
  ...[0xc4, 0xc5, 0xd5, 0xf0, 0xf2, 0xf3],
  ...range(0x40, 0x4f),
]);
const GROUPS = [
  0x80, 0x81, 0x83, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff,
];

const oneByte = (): Bytes[] =>
  range(0, 0xff)
    .filter((op) => !NOT_OPCODES.has(op))
    .flatMap((op) => {
      const reg = (op * 5 + 3) & 7;
      return [
        [op, ...FORMS.register!(reg)],
        [op, ...FORMS.memory!(reg)],
        [0x48, op, ...ripRelative(reg)],
        [0x66, op, ...FORMS.stack!(reg)],
      ];
    });

const groups = (): Bytes[] =>
  GROUPS.flatMap((op) =>
    range(0, 7).flatMap((reg) => [
      [op, ...FORMS.displaced!(reg)],
      [0x48, op, ...FORMS.register!(reg)],
    ]),
  );

const twoByte = (): Bytes[] =>
  range(0, 0xff).flatMap((op) =>
    PP.map((prefix, pp) => {
      const reg = (op + 3 * pp) & 7;
      const form = [FORMS.register!, FORMS.memory!, ripRelative][(op + pp) % 3]!;
      return [...prefix, 0x0f, op, ...form(reg)];
    }),
  );

const threeByte = (): Bytes[] =>
  [0x38, 0x3a].flatMap((map) =>
    range(0, 0xff).flatMap((op) =>
      PP.map((prefix, pp) => {
        const form = [FORMS.memory!, FORMS.register!, ripRelative][(op + pp) % 3]!;
        return [...prefix, 0x0f, map, op, ...form((op + pp) & 7)];
      }),
    ),
  );

/** Opcode bytes that the kernel takes for jumps, calls, nops or pushes, and a few others. */
const MISTAKEN = [
  ...range(0x50, 0x57),
  ...range(0x70, 0x7f),
  0x90,
  0xe8,
  0xe9,
  0xeb,
  0xc2,
  0xd4,
  0xef,
  0xfe,
];

const vex = (): Bytes[] =>
  MISTAKEN.flatMap((op) => [
    ...range(0, 3).map((pp) => [0xc5, 0xe8 | pp, op, 0xc1]),
    ...range(1, 3).map((map) => [0xc4, 0xe0 | map, 0x69, op, 0xc1]),
    [0x62, 0xf1, 0x6d, 0x48, op, 0xc1],
    [0xc5, 0xe9, op, ...ripRelative(0)],
  ]);

const STRING = range(0xa4, 0xaf).filter((op) => op !== 0xa8 && op !== 0xa9);
const PREFIXES = [
  0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x40, 0x41, 0x48, 0x4f,
];

const prefixed = (): Bytes[] => [
  ...STRING.flatMap((op) => [
    [0xf3, op],
    [0xf2, op],
    [0xf3, 0x48, op],
    [0xf3, 0x66, op],
    [0x67, op],
    [0xf3, 0x67, op],
  ]),
  ...PREFIXES.flatMap((prefix) =>
    [
      [0x90],
      [0x0f, 0x1f, 0x40, 0x00],
      [0x50],
      [0x53],
      [0x5d],
      [0xc3],
      [0xe8, 7, 0, 0, 0],
      [0xe9, 7, 0, 0, 0],
      [0xeb, 7],
      [0x75, 7],
      [0x0f, 0x85, 7, 0, 0, 0],
      [0xe3, 7],
      [0xe2, 7],
      [0x01, 0x0b],
      [0x87, 0xc8],
      [0x9c],
      [0xff, 0xe0],
      [0xff, 0xd1],
      [0xc2, 8, 0],
      [0xc9],
      [0x0f, 0xb1, 0x0b],
      [0x0f, 0xc7, 0x0b],
      [0x0f, 0x10, 0x03],
    ].map((rest) => [prefix, ...rest]),
  ),
];

const x87 = (): Bytes[] =>
  range(0xd8, 0xdf).flatMap((op) => [
    ...range(0, 7).map((reg) => [op, ...FORMS.memory!(reg)]),
    ...range(0, 7).map((reg) => [op, 0xc0 | (reg << 3) | (op & 7)]),
  ]);

/**
 * Not executed: system calls, and what reads the machine (time, CPU number, segment bases, tables, x87
 * pointers, whole vector states) or changes segments for good.
 */
const LEFT_OUT =
  /^(syscall|sysenter|int\d?|into|rdtscp?|cpuid|rdrand|rdseed|rdpid|rdpru|xgetbv|str|sldt|smsw|sgdt|sidt|rdpmc|[lx]?(rd|wr)[fg]sbase|l[defgs]s|rdpkru|wrpkru|fx?save.*|fxrstor.*|fnsave|fnstenv|fldenv|frstor|xsave.*|xrstor.*|monitorx?|mwaitx?|u?monitor|u?mwait|tpause|clzero|enqcmd|hreset|ptwrite|serialize|rdsspq|rdsspd|x(begin|end|abort|test)|pause|movdir64b|ldmxcsr|ldtilecfg|sttilecfg|lsl|lar|verr|verw)$/;

const loadsSegment = (bytes: Bytes): boolean => {
  const at = bytes.findIndex((byte) => byte === 0x8e || byte === 0x0f);
  return bytes[at] === 0x8e || (bytes[at] === 0x0f && [0xa1, 0xa9].includes(bytes[at + 1] ?? 0));
};

/**
 * Thread-local storage lies elsewhere in every process. %rsp from %rax is not canonical: what a step with
 * such a stack comes to is the hypervisor's affair on the machine that recorded.
 */
const isUnsteady = (bytes: Bytes): boolean =>
  (bytes[0] === 0x64 && (scanner.hasMemoryOperand() || bytes[1] === 0x0f)) ||
  [[0x94], [0x48, 0x94]].some((start) => start.every((byte, i) => bytes[i] === byte));

const scanner = new Scanner();

/** Cut to its length; null where it must not run, or is no instruction for the decoder. */
const usable = (bytes: Bytes): number[] | null => {
  const padded = [...bytes, ...FILLER].map((byte) => (byte === RIP ? 0 : byte)).slice(0, 15);
  scanner.open(Uint8Array.from(padded), 0n);
  scanner.next();
  const { mnemonic } = scanner.facts;
  if (mnemonic === '' || LEFT_OUT.test(mnemonic) || loadsSegment(bytes) || isUnsteady(bytes))
    return null;
  return [...bytes, ...FILLER].slice(0, scanner.length);
};

const placed = (bytes: readonly number[], index: number): number[] => {
  const at = bytes.indexOf(RIP);
  if (at < 0) return [...bytes];
  const displacement = TARGET - (FIRST + STRIDE * index + bytes.length);
  return bytes.map((byte, i) =>
    i >= at && i < at + 4 ? (displacement >> (8 * (i - at))) & 0xff : byte,
  );
};

/** Of the whole list only these are recorded. */
const EVERY = 3;

/** One line of hex each; lines that are left out are empty, so that the others keep their places. */
export const execCases = (): readonly string[] => {
  const seen = new Set<string>();
  const cases: number[][] = [];
  for (const bytes of [
    oneByte(),
    groups(),
    twoByte(),
    threeByte(),
    vex(),
    prefixed(),
    x87(),
  ].flat()) {
    const cut = usable(bytes);
    if (cut === null || seen.has(cut.join())) continue;
    seen.add(cut.join());
    cases.push(placed(cut, cases.length));
  }
  return cases.map((bytes, index) =>
    index % EVERY === 0 ? Buffer.from(bytes).toString('hex') : '',
  );
};
