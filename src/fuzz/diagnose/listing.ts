/** A function as a list of instructions, so that some can be taken out and the rest still fits together. */
import { view } from '../../base/bytes.ts';
import { Scanner } from '../../x86/decode.ts';
import { decodeInsn, immOffset, isRipRelative, modrmOffset } from '../../x86/insn.ts';

export interface Line {
  readonly bytes: Uint8Array;
  /** Offset in the original code. */
  readonly offset: number;
  readonly text: string;
  readonly mnemonic: string;
  /** A displacement that counts from the instruction's end. */
  readonly relative: {
    readonly at: number;
    readonly size: 1 | 4;
    /** Original offset it leads to: in the code, or anywhere. */
    readonly target: number;
  } | null;
}

const scanner = new Scanner();

const isShortBranch = (opcode: number): boolean =>
  (opcode >= 0x70 && opcode <= 0x7f) || opcode === 0xeb || (opcode >= 0xe0 && opcode <= 0xe3);

const isNearBranch = ([first, second = 0]: readonly number[]): boolean =>
  first === 0xe8 || first === 0xe9 || (first === 0x0f && second >> 4 === 8);

const relativeOf = (bytes: Uint8Array, offset: number): Line['relative'] => {
  const insn = decodeInsn(bytes);
  if (insn === null || insn.length !== bytes.length || insn.vector !== null) return null;
  const words = view(bytes);
  const end = offset + bytes.length;
  if (insn.opcode.length === 1 && isShortBranch(insn.opcode[0] ?? 0)) {
    const at = bytes.length - 1;
    return { at, size: 1, target: end + words.getInt8(at) };
  }
  const at = isNearBranch(insn.opcode)
    ? immOffset(insn)
    : isRipRelative(insn)
      ? modrmOffset(insn) + 1
      : null;
  return at === null ? null : { at, size: 4, target: end + words.getInt32(at, true) };
};

/** @param base address of the first byte, for the texts */
export const listingOf = (code: Uint8Array, base: bigint): Line[] => {
  const lines: Line[] = [];
  scanner.open(code, base);
  let offset = 0;
  while (scanner.next()) {
    const bytes = code.slice(offset, offset + scanner.length);
    lines.push({
      bytes,
      offset,
      text: scanner.text(),
      mnemonic: scanner.facts.mnemonic || '(bad)',
      relative: relativeOf(bytes, offset),
    });
    offset += scanner.length;
  }
  return lines;
};

export interface Relinked {
  readonly code: Uint8Array;
  /** Where an original offset has gone; offsets inside removed lines go to the next line. */
  readonly moved: (offset: number) => number;
}

/** Puts lines together again; null when a displacement no longer fits. */
export const relink = (lines: readonly Line[], originalSize: number): Relinked | null => {
  const places: { readonly from: number; readonly end: number; readonly to: number }[] = [];
  let size = 0;
  for (const { bytes, offset } of lines) {
    places.push({ from: offset, end: offset + bytes.length, to: size });
    size += bytes.length;
  }
  const moved = (offset: number): number => {
    const place = places.find(({ end }) => end > offset);
    if (place === undefined) return size;
    return place.to + Math.max(0, offset - place.from);
  };
  const code = new Uint8Array(size);
  for (const [index, { bytes, relative }] of lines.entries()) {
    const { to = 0 } = places[index] ?? {};
    code.set(bytes, to);
    if (relative === null) continue;
    const inside = relative.target >= 0 && relative.target <= originalSize;
    const distance = (inside ? moved(relative.target) : relative.target) - (to + bytes.length);
    const words = view(code);
    if (relative.size === 4) words.setInt32(to + relative.at, distance, true);
    else if (distance < -128 || distance > 127) return null;
    else words.setInt8(to + relative.at, distance);
  }
  return { code, moved };
};
