/** What generated functions are made of: straight-line instructions. Each row is one kind. */
import { DATA, TEXT } from '../guest/layout.ts';
import type { Random } from '../random.ts';
import { type Assembler, le } from './assembler.ts';
import {
  anyRegister,
  dataOperand,
  freeRegister,
  onMemory,
  onRegisters,
  redZoneOperand,
  ripOperand,
} from './operands.ts';

/** Adds instructions to a function. `at` is the page offset of its first byte. */
export interface Snippet {
  readonly kind: string;
  readonly weight: number;
  add(asm: Assembler, random: Random, at: number): void;
}

const row = (
  kind: string,
  weight: number,
  bytes: (random: Random) => readonly number[],
): Snippet => ({
  kind,
  weight,
  add: (asm, random) => asm.emit(kind, ...bytes(random)),
});

const push = (
  weight: number,
  bytes: (random: Random) => readonly number[],
  kind = 'push',
): Snippet => ({
  kind,
  weight,
  add(asm, random) {
    asm.depth++;
    asm.emit(kind, ...bytes(random));
  },
});

/** Takes off what was pushed; seldom more, which is the return address. */
const pop = (
  kind: string,
  weight: number,
  bytes: (random: Random) => readonly number[],
): Snippet => ({
  kind,
  weight,
  add(asm, random) {
    if (asm.depth === 0 && !random.chance(3)) return;
    asm.depth--;
    asm.emit(kind, ...bytes(random));
  },
});

/** add or adc sbb and sub xor cmp, reg to reg/mem and back. */
const alu = (random: Random): number => 8 * random.below(8) + 1;

/** Forms of nop; some are optimised, some emulated, some stepped, some no nops at all. */
const NOPS: readonly (readonly number[])[] = [
  [0x90],
  [0x66, 0x90],
  [0x0f, 0x1f, 0x00],
  [0x0f, 0x1f, 0x40, 0x00],
  [0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x0f, 0x1f, 0x80, 0, 0, 0, 0],
  [0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
  [0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
  [0xf3, 0x90],
  [0x49, 0x90],
  [0x41, 0x90],
  [0xf3, 0x0f, 0x1e, 0xfa],
  [0xf3, 0x0f, 0x1f, 0x40, 0x00],
  [0x48, 0x0f, 0x1f, 0x40, 0x00],
  [0x66, 0x66, 0x66, 0x41, 0x90],
  [0x66, 0x66, 0x66, 0x66, 0x90],
  [0x48, 0x89, 0xc0],
  [0x66, 0x66, 0x48, 0x89, 0xc0],
  [0x48, 0x8d, 0x40, 0x00],
  [0x48, 0x8d, 0x44, 0x20, 0x00],
  [0xeb, 0x00],
  [0xe9, 0, 0, 0, 0],
];
const NOP5 = [0x0f, 0x1f, 0x44, 0, 0];
const NOP10 = [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];

const dataTarget = (random: Random): number => Number(DATA.start) + 8 * random.below(256);

/** load, store, add, lea, cmp, imul, xchg, cmovz, movzx … with an operand relative to ip. */
const RIP_OPCODES = [[0x8b], [0x89], [0x01], [0x8d], [0x3b], [0x0f, 0xaf], [0x87], [0x0f, 0x44]];

const ripRelative: Snippet = {
  kind: 'rip',
  weight: 14,
  add(asm, random, at) {
    const opcode = random.pick(RIP_OPCODES);
    const reg = random.pick([0, 1, 2, 3, 6, 7, 8, 14, 15]);
    const length = 1 + opcode.length + 5;
    const end = Number(TEXT.start) + at + asm.bytes.length + length;
    asm.emit(
      'rip',
      ...onMemory(opcode, ripOperand(reg, dataTarget(random), end, random.chance(30))),
    );
  },
};

const bmi: Snippet = {
  kind: 'vex',
  weight: 2,
  add(asm, random, at) {
    // bextr reg,disp32(%rip),vvvv and its kin: VEX.LZ.0F38.W0 F7 /r
    const [reg, index] = [random.pick([6, 7, 0]), random.pick([6, 7, 1])];
    const end = Number(TEXT.start) + at + asm.bytes.length + 9;
    const { modrm } = ripOperand(reg, dataTarget(random), end, false);
    asm.emit('vex', 0xc4, 0xe2, 0x78 ^ (index << 3), 0xf7, ...modrm);
  },
};

/** AVX: refused, taken for something else, or stepped, by the byte behind the prefix. */
const AVX: readonly (readonly number[])[] = [
  [0xc5, 0xf9, 0x70, 0xc1, 0x1b],
  [0xc5, 0xf5, 0x72, 0xe2, 0x05],
  [0xc5, 0xf9, 0x74, 0xc1],
  [0xc5, 0xe9, 0xe8, 0xc1],
  [0xc5, 0xe9, 0xeb, 0xc1],
  [0xc5, 0xf8, 0x58, 0xc1],
  [0xc5, 0xf8, 0x51, 0xc1],
  [0xc5, 0xf9, 0xe9, 0xc1],
];

export const STRAIGHT: readonly Snippet[] = [
  row('alu', 20, (r) => onRegisters([alu(r)], anyRegister(r), freeRegister(r), r.chance(70))),
  row('alu', 6, (r) => [...onRegisters([0x83], r.below(8), freeRegister(r), true), r.below(256)]),
  row('load', 8, (r) => {
    const reg = freeRegister(r);
    return onMemory([0x8b], dataOperand(r, reg));
  }),
  row('store', 8, (r) => {
    const reg = anyRegister(r);
    return onMemory([0x89], dataOperand(r, reg));
  }),
  row('alu-memory', 6, (r) => {
    const reg = freeRegister(r);
    return onMemory([alu(r) + (r.chance(50) ? 2 : 0)], dataOperand(r, reg));
  }),
  row('move', 6, (r) => onRegisters([0x89], anyRegister(r), freeRegister(r), true)),
  row('constant', 5, (r) => [0xb8 + r.below(3), ...le(r.below(0x10000), 4)]),
  row('unary', 5, (r) => onRegisters([0xf7], r.pick([2, 3]), freeRegister(r), true)),
  row('unary', 4, (r) => onRegisters([0xff], r.below(2), freeRegister(r), r.chance(50))),
  row('shift', 4, (r) => [
    ...onRegisters([0xc1], r.pick([4, 5, 7, 0, 1]), freeRegister(r), true),
    r.below(64),
  ]),
  row('multiply', 3, (r) => onRegisters([0x0f, 0xaf], freeRegister(r), freeRegister(r), true)),
  row('divide', 1, (r) => onRegisters([0xf7], r.pick([6, 7]), freeRegister(r), false)),
  row('set', 3, (r) => onRegisters([0x0f, 0x90 + r.below(16)], 0, r.below(3), false)),
  row('cmov', 3, (r) =>
    onRegisters([0x0f, 0x40 + r.below(16)], freeRegister(r), anyRegister(r), true),
  ),
  row('exchange', 4, (r) => onRegisters([0x87], freeRegister(r), freeRegister(r), true)),
  row('exchange', 2, (r) => [r.pick([0x48, 0x49]), 0x90 + r.below(4)]),
  row('xadd', 2, (r) => onMemory([0x0f, 0xc1], dataOperand(r, freeRegister(r)))),
  row('locked', 2, (r) => onMemory([0x01], dataOperand(r, freeRegister(r)), { prefixes: [0xf0] })),
  row('cmpxchg8b', 1, (r) => onMemory([0x0f, 0xc7], dataOperand(r, 1), { wide: false })),
  push(4, (r) => [0x50 + r.below(8)]),
  push(3, (r) => [0x41, 0x50 + r.below(8)]),
  push(1, (r) => [0x48, 0x50 + r.below(8)]),
  pop('pop', 6, (r) => [0x58 + r.pick([0, 1, 2])]),
  push(3, () => [0x9c], 'pushf'),
  pop('popf', 2, () => [0x9d]),
  row('flags', 4, (r) => [r.pick([0xf8, 0xf9, 0xf5, 0x9e, 0x9f, 0xfc])]),
  row('nop', 8, (r) => r.pick(NOPS)),
  row('nop5', 5, () => NOP5),
  row('nop10', 5, () => NOP10),
  row('red-zone-store', 8, (r) =>
    onMemory([0x89], redZoneOperand(freeRegister(r), 1 + r.below(16))),
  ),
  row('red-zone-load', 8, (r) =>
    onMemory([0x8b], redZoneOperand(freeRegister(r), 1 + r.below(16))),
  ),
  row('string', 3, (r) => [r.pick([0xa4, 0xa5, 0xaa, 0xab, 0xac, 0xa6])]),
  row('syscall', 3, () => [0x0f, 0x05]),
  row('sse', 3, (r) => [0x66, 0x0f, r.pick([0xef, 0xfe, 0xd4, 0x6f, 0xf4]), 0xc0 | r.below(64)]),
  row('bswap', 1, (r) => [0x48, 0x0f, 0xc8 + r.below(3)]),
  row('trap', 1, (r) => r.pick([[0x0f, 0x0b], [0xcc], [0xf4], [0xf1], [0xcd, 0x03]])),
  row('avx', 2, (r) => r.pick(AVX)),
  ripRelative,
  bmi,
];
