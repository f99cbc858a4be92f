/**
 * Encodings for the acceptance sweep: every opcode of every map behind every kind of prefix, prefixes in
 * all orders, every modrm form, every length. The list is the same in every run; the golden holds
 * the kernel's answers in its order.
 */

/** A case: up to 16 bytes; missing ones are 0. */
export type Encoding = readonly number[];

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Deterministic numbers (the multiplier of Knuth's MMIX). */
class Lcg {
  #state: bigint;

  constructor(seed: bigint) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number((this.#state >> 33n) % BigInt(limit));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

const LEGACY = [0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3];
const MANDATORY: readonly Encoding[] = [[], [0x66], [0xf3], [0xf2]];

/** modrm bytes: every mod, with and without SIB, RIP-relative, SIB without base; `reg` goes round. */
const FORMS = [0x00, 0x04, 0x05, 0x40, 0x44, 0x45, 0x80, 0x84, 0x85, 0xc0, 0xc4, 0xc5];
const withReg = (form: number, reg: number): number => form | ((reg & 7) << 3);

const OPERANDS = [0x25, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77];

const oneByte = (): Encoding[] =>
  range(256).flatMap((op) => FORMS.map((form, i) => [op, withReg(form, op + i), ...OPERANDS]));

const twoByte = (): Encoding[] =>
  range(256).flatMap((op) =>
    range(8).flatMap((reg) =>
      [0xc0, 0x05].map((form, i) => [
        ...MANDATORY[(op + reg + i) & 3]!,
        0x0f,
        op,
        withReg(form, reg),
        ...OPERANDS,
      ]),
    ),
  );

const threeByte = (): Encoding[] =>
  [0x38, 0x3a].flatMap((map) =>
    MANDATORY.flatMap((prefix) =>
      range(256).map((op) => [...prefix, 0x0f, map, op, withReg(0xc1, op), ...OPERANDS]),
    ),
  );

const rex = (): Encoding[] =>
  range(16).flatMap((bits) =>
    range(256).map((op) => [0x40 | bits, op, withReg(FORMS[op % 12]!, bits), ...OPERANDS]),
  );

const rex2 = (): Encoding[] =>
  [0x00, 0x08, 0x80, 0x88].flatMap((payload) =>
    range(256).map((op) => [0xd5, payload, op, withReg(0xc1, op >> 3), ...OPERANDS]),
  );

const VVVV = 0x78;

const vex2 = (): Encoding[] =>
  range(4).flatMap((pp) =>
    range(256).flatMap((op) =>
      [op, op + 3].map((reg) => [0xc5, 0x80 | VVVV | pp, op, withReg(0xc1, reg), ...OPERANDS]),
    ),
  );

const vex3 = (): Encoding[] =>
  [0, 1, 2, 3, 4, 5, 7, 8, 31].flatMap((map) =>
    range(4).flatMap((pp) =>
      range(256).map((op) => [
        0xc4,
        0xe0 | map,
        ((op & 1) << 7) | VVVV | pp,
        op,
        withReg(op & 2 ? 0x05 : 0xc1, op >> 2),
        ...OPERANDS,
      ]),
    ),
  );

const evex = (): Encoding[] =>
  range(8).flatMap((map) =>
    range(4).flatMap((pp) =>
      range(256).map((op) => [
        0x62,
        0xf0 | map,
        ((op & 1) << 7) | 0x04 | VVVV | pp,
        0x48,
        op,
        withReg(op & 2 ? 0x05 : 0xc1, op >> 2),
        ...OPERANDS,
      ]),
    ),
  );

const xop = (): Encoding[] =>
  [0, 1, 7, 8, 9, 10, 11].flatMap((map) =>
    range(256).map((op) => [
      0x8f,
      0xe0 | map,
      VVVV | (op & 3),
      op,
      withReg(0xc1, op >> 3),
      ...OPERANDS,
    ]),
  );

/** Prefixes in random number and order before random bytes of each map. */
const prefixed = (random: Lcg): Encoding[] =>
  range(6000).map(() => {
    const pool = range(1 + random.below(6)).map(() => random.pick(LEGACY));
    const prefixes = range(random.pick([1, 1, 2, 3, 4, 5, 6, 8, 10, 13])).map(() =>
      random.pick(pool),
    );
    const start = random.pick<Encoding>([
      [],
      [],
      [0x48],
      [0x41],
      [0x0f],
      [0x0f, 0x38],
      [0x0f, 0x3a],
      [0xc5],
      [0xc4, 0xe0 | random.below(5)],
      [0x62, 0xf0 | random.below(8)],
      [0x8f, 0xe8 | random.below(3)],
      [0xd5],
    ]);
    return [...prefixes, ...start, ...range(16).map(() => random.below(256))].slice(0, 16);
  });

/** Instructions of every length behind 0 to 14 harmless prefixes: the kernel looks at 15 bytes. */
const padded = (): Encoding[] =>
  [
    [0x90],
    [0xeb, 0x00],
    [0x0f, 0x1f, 0x00],
    [0x0f, 0x1f, 0x40, 0x00],
    [0x0f, 0x1f, 0x44, 0x00, 0x00],
    [0xe8, 0, 0, 0, 0],
    [0x48, 0x8d, 0x05, 1, 0, 0, 0],
    [0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8],
    [0x48, 0xa1, 1, 2, 3, 4, 5, 6, 7, 8],
    [0xc8, 0x10, 0x00, 0x00],
    [0x48, 0x81, 0x84, 0x24, 0, 1, 0, 0, 1, 0, 0, 0],
    [0xc4, 0xe3, 0x79, 0x0f, 0x84, 0x24, 0, 1, 0, 0, 8],
    [0x62, 0xf3, 0x7d, 0x48, 0x25, 0x84, 0x24, 0, 1, 0, 0, 8],
    [0x69, 0x05, 1, 0, 0, 0, 2, 0, 0, 0],
    [0x8f, 0xea, 0x78, 0x10, 0xc1, 1, 2, 3, 4],
    [0xd5, 0x08, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8],
  ].flatMap((insn) => range(15).map((count) => [...range(count).map(() => 0x64), ...insn]));

/** The two sequences that hypervisors put before an instruction, and near misses. */
const emulated = (random: Lcg): Encoding[] =>
  ['xen', 'kvm', 'xem', 'kv'].flatMap((name) =>
    range(250).map(() => [
      0x0f,
      0x0b,
      ...[...name].map((letter) => letter.charCodeAt(0)),
      random.pick([...LEGACY, 0x90, 0xcc, 0xe8, 0xc5, 0x0f]),
      ...range(10).map(() => random.below(256)),
    ]),
  );

export const sweepCases = (): readonly Encoding[] => {
  const random = new Lcg(1n);
  return [
    oneByte(),
    twoByte(),
    threeByte(),
    rex(),
    rex2(),
    vex2(),
    vex3(),
    evex(),
    xop(),
    prefixed(random),
    padded(),
    emulated(random),
  ]
    .flat()
    .map((bytes) => bytes.slice(0, 16));
};
