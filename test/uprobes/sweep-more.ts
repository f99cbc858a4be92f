/**
 * A second acceptance sweep, where the first (`sweep-cases.ts`) is thin: vector prefixes with every map,
 * reserved bits and foreign prefixes before them, REX2, 3DNow!, XOP, fwait, all orders of two and three
 * prefixes, and everything cut off by the limit of 15 bytes.
 */
import type { Encoding } from './sweep-cases.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const LEGACY = [0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3];
const OPERANDS = [0x44, 0x8c, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77];

/** Opcodes that differ in operands, immediates and verdict. */
const SOME = [
  ...[0x00, 0x0f, 0x12, 0x16, 0x1f, 0x2e, 0x3f, 0x50, 0x58, 0x62, 0x6f, 0x70, 0x77, 0x78, 0x82],
  ...[0x90, 0x92, 0x9a, 0xae, 0xb8, 0xc2, 0xc4, 0xc6, 0xd4, 0xd6, 0xe7, 0xe8, 0xeb, 0xef, 0xf4],
  ...[0xf6, 0xf7, 0xfa, 0xff],
];

const vex2 = (): Encoding[] =>
  range(256).flatMap((payload) => SOME.map((op) => [0xc5, payload, op, ...OPERANDS]));

const vex3 = (): Encoding[] =>
  range(32).flatMap((map) =>
    [0x00, 0x7b, 0x85, 0xfe].flatMap((second) =>
      SOME.map((op) => [0xc4, ((op * 7) & 0xe0) | map, second, op, ...OPERANDS]),
    ),
  );

/** Reserved bits, broadcast, masks, the fourth map of APX. */
const evex = (): Encoding[] =>
  range(16).flatMap((map) =>
    [0x04, 0x7d, 0xfc, 0x78, 0x00].flatMap((second) =>
      [0x00, 0x08, 0x4f, 0x97, 0xe8].flatMap((third) =>
        SOME.map((op) => [0x62, ((op * 5) & 0xf0) | map, second, third, op, ...OPERANDS]),
      ),
    ),
  );

const xop = (): Encoding[] =>
  range(32).flatMap((map) =>
    [0x78, 0x80, 0x01].flatMap((second) =>
      SOME.map((op) => [0x8f, ((op * 3) & 0xe0) | map, second, op, ...OPERANDS]),
    ),
  );

/** What may not stand before a vector prefix. */
const beforeVector = (): Encoding[] =>
  [...LEGACY, ...range(16).map((bits) => 0x40 | bits)].flatMap((prefix) =>
    [
      [0xc5, 0xf8],
      [0xc4, 0xe1, 0x79],
      [0x62, 0xf1, 0x7d, 0x48],
      [0x8f, 0xe8, 0x78],
      [0xd5, 0x08],
    ].flatMap((vector) => SOME.map((op) => [prefix, ...vector, op, ...OPERANDS])),
  );

const rex2 = (): Encoding[] =>
  range(256).flatMap((payload) => SOME.map((op) => [0xd5, payload, op, ...OPERANDS]));

const threeDNow = (): Encoding[] =>
  range(256).flatMap((suffix) => [
    [0x0f, 0x0f, 0xc1, suffix],
    [0x0f, 0x0f, 0x05, 1, 2, 3, 4, suffix],
  ]);

const fwait = (): Encoding[] =>
  range(8).flatMap((op) =>
    range(256).map((modrm) => [0x9b, 0xd8 | op, modrm, ...OPERANDS.slice(1)]),
  );

const x87 = (): Encoding[] =>
  range(8).flatMap((op) => range(256).map((modrm) => [0xd8 | op, modrm, ...OPERANDS]));

const afterSegment = (): Encoding[] =>
  [0x64, 0x65].flatMap((segment) =>
    range(256).flatMap((op) => [
      [segment, op, ...OPERANDS],
      [segment, 0x48, op, ...OPERANDS],
      [segment, 0x0f, op, ...OPERANDS],
    ]),
  );

const STARTS: readonly Encoding[] = [[0x90], [0x0f, 0x1f], [0xe8], [0x8b], [0x50], [0x48, 0x01]];

const pairs = (): Encoding[] =>
  LEGACY.flatMap((a) =>
    LEGACY.flatMap((b) => STARTS.map((start) => [a, b, ...start, ...OPERANDS])),
  );

const triples = (): Encoding[] =>
  LEGACY.flatMap((a) =>
    LEGACY.flatMap((b) =>
      LEGACY.flatMap((c) => STARTS.slice(0, 4).map((start) => [a, b, c, ...start, ...OPERANDS])),
    ),
  );

/** REX before, between and behind prefixes: only the last byte before the opcode counts. */
const rexPlaces = (): Encoding[] =>
  LEGACY.flatMap((prefix) =>
    range(16).flatMap((bits) =>
      [0x90, 0x50, 0x89, 0xe9].flatMap((op) => [
        [0x40 | bits, prefix, op, ...OPERANDS],
        [0x40 | bits, 0x48, prefix, 0x4f, op, ...OPERANDS],
      ]),
    ),
  );

/** Long instructions behind more and more prefixes: 15 bytes are the limit. */
const cutOff = (): Encoding[] =>
  [0x65, 0x66, 0x67, 0xf2, 0xf3].flatMap((prefix) =>
    range(256).flatMap((op) =>
      [6, 10, 12, 13, 14].map((count) => [
        ...range(count).map(() => prefix),
        op,
        ...OPERANDS,
        ...OPERANDS,
      ]),
    ),
  );

export const moreSweepCases = (): readonly Encoding[] =>
  [
    vex2(),
    vex3(),
    evex(),
    xop(),
    beforeVector(),
    rex2(),
    threeDNow(),
    fwait(),
    x87(),
    afterSegment(),
    pairs(),
    triples(),
    rexPlaces(),
    cutOff(),
  ]
    .flat()
    .map((bytes) => bytes.slice(0, 16));
