/**
 * The kernel's own view of an instruction: where it ends and which bytes are what, in 64-bit mode.
 *
 * Linux has a decoder of its own (arch/x86/lib/insn.c) that knows lengths and little else. It takes
 * many undefined encodings for instructions and refuses some real ones; uprobes judge by it, so this
 * module gives its answer, not the manual's. `decode.ts` is for printing.
 */

import { readOpcode } from './insn-opcode.ts';
import { readOperands } from './insn-operands.ts';
import { readPrefixes } from './insn-prefixes.ts';

/** The longest instruction (SDM vol. 2, 2.3.11); the kernel looks at no byte beyond. */
export const MAX_INSN_SIZE = 15;

/** Which prefix of the vector kind stands before the opcode. */
export type VectorPrefix = 'vex2' | 'vex3' | 'evex' | 'xop';

export interface Insn {
  readonly length: number;
  /** Legacy prefixes, each once, in the order of their first appearance (four at most). */
  readonly prefixes: readonly number[];
  /** Legacy prefix bytes in all, repetitions counted. */
  readonly prefixCount: number;
  /** The REX byte, or the two of REX2, or none. */
  readonly rex: readonly number[];
  readonly vector: VectorPrefix | null;
  /** Bytes of VEX, EVEX or XOP; for VEX2 the three bytes of the VEX3 it stands for. */
  readonly vectorBytes: readonly number[];
  /** Opcode bytes, 0F escapes included; with a vector prefix always one. */
  readonly opcode: readonly number[];
  /** Null when the opcode has none. */
  readonly modrm: number | null;
  readonly sib: number | null;
  readonly dispSize: number;
  /** Sign-extended. */
  readonly displacement: number;
  readonly immSize: number;
  /** First immediate, sign-extended; 0 when there is none (8-byte ones: the low half). */
  readonly immediate: number;
  /** In bytes: 2, 4 or 8. */
  readonly operandSize: number;
  /** Behind `0F 0B 'x' 'e' 'n'` or `0F 0B 'k' 'v' 'm'`: the kernel skips the five bytes. */
  readonly emulatePrefix: boolean;
}

/** What the decoder knows while it reads; the parts fill it in. */
export interface Draft {
  readonly bytes: Uint8Array;
  /** First byte not to be looked at. */
  readonly end: number;
  at: number;
  prefixes: number[];
  prefixCount: number;
  lastPrefix: number;
  rex: number[];
  vector: VectorPrefix | null;
  vectorBytes: number[];
  opcode: number[];
  /** Operand size in bytes (2, 4 or 8) and address size (4 or 8). */
  operandSize: number;
  addressSize: number;
  modrm: number | null;
  sib: number | null;
  dispSize: number;
  displacement: number;
  immSize: number;
  immediate: number;
  emulatePrefix: boolean;
}

/** The byte `ahead` of the next one, or undefined behind the end. */
export const peek = (draft: Draft, ahead = 0): number | undefined =>
  draft.at + ahead < draft.end ? draft.bytes[draft.at + ahead] : undefined;

/** Steps over `count` bytes; false when they are not all there. */
export const skip = (draft: Draft, count: number): boolean => {
  draft.at += count;
  return draft.at <= draft.end;
};

const startDraft = (bytes: Uint8Array): Draft => ({
  bytes,
  end: Math.min(bytes.length, MAX_INSN_SIZE),
  at: 0,
  prefixes: [],
  prefixCount: 0,
  lastPrefix: 0,
  rex: [],
  vector: null,
  vectorBytes: [],
  opcode: [],
  operandSize: 4,
  addressSize: 8,
  modrm: null,
  sib: null,
  dispSize: 0,
  displacement: 0,
  immSize: 0,
  immediate: 0,
  emulatePrefix: false,
});

/** Little-endian signed number of up to four bytes at the reading position. */
export const peekSigned = (draft: Draft, size: number): number => {
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = (value << 8) | (peek(draft, i) ?? 0);
  return size === 0 ? 0 : (value << (32 - 8 * size)) >> (32 - 8 * size);
};

/** The instruction at the start of `bytes`, or null where the kernel's decoder gives up (ENOEXEC). */
export const decodeInsn = (bytes: Uint8Array): Insn | null => {
  const draft = startDraft(bytes);
  if (!readPrefixes(draft)) return null;
  const shape = readOpcode(draft);
  if (shape === null || !readOperands(draft, shape)) return null;
  return { ...draft, length: draft.at };
};

/*
 * Places of the parts, as the kernel computes them: it forgets the five bytes of an emulate prefix.
 */

export const rexOffset = (insn: Insn): number => insn.prefixCount;

export const vectorOffset = (insn: Insn): number => insn.prefixCount + insn.rex.length;

const vectorSize = (insn: Insn): number => (insn.vector === 'vex2' ? 2 : insn.vectorBytes.length);

export const modrmOffset = (insn: Insn): number =>
  vectorOffset(insn) + vectorSize(insn) + insn.opcode.length;

export const immOffset = (insn: Insn): number =>
  modrmOffset(insn) + (insn.modrm === null ? 0 : 1) + (insn.sib === null ? 0 : 1) + insn.dispSize;

/** Three bits each; 0 where there is no modrm. */
export const modrmReg = (insn: Insn): number => ((insn.modrm ?? 0) >> 3) & 7;

/** A memory operand at ip + disp32. */
export const isRipRelative = (insn: Insn): boolean =>
  insn.modrm !== null && (insn.modrm & 0xc7) === 0x05;
