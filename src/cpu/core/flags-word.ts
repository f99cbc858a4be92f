/** RFLAGS as the host sees it, from and to the two words of `emit/flags.ts`. */
import { CARRY } from './emit/flags.ts';
import { STATE } from './layout.ts';
import type { Frames } from './memory/frames.ts';

const CF = 1;
const PF = 1 << 2;
const AF = 1 << 4;
const ZF = 1 << 6;
const SF = 1 << 7;
export const TF = 1 << 8;
export const OF = 1 << 11;
/** Bit 1 and IF always read as 1. */
export const ALWAYS = 0x202;
/** What is kept of a written word besides the arithmetic flags: TF, DF, NT, AC, ID. */
const CONTROL = 0x24_4500;

const bitOf = (word: number, bit: number): number => (word >>> bit) & 1;

const evenParity = (byte: number): boolean => {
  let folded = byte ^ (byte >> 4);
  folded ^= folded >> 2;
  return ((folded ^ (folded >> 1)) & 1) === 0;
};

export const readFlags = ({ words }: Frames): number => {
  const low = words[STATE.result >> 2]!;
  const high = words[(STATE.result >> 2) + 1]!;
  const carries = words[STATE.carries >> 2]!;
  const cf = bitOf(carries, CARRY.cf);
  let flags = words[STATE.control >> 2]! | ALWAYS;
  if (cf) flags |= CF;
  if (cf ^ bitOf(carries, CARRY.carryIn)) flags |= OF;
  if (bitOf(carries, CARRY.af)) flags |= AF;
  if ((low | high) === 0) flags |= ZF;
  if (bitOf(high, 31) ^ bitOf(carries, CARRY.invertSf)) flags |= SF;
  if (evenParity((low ^ (carries >>> CARRY.invertPf)) & 0xff)) flags |= PF;
  return flags;
};

export const writeFlags = ({ words }: Frames, flags: number): void => {
  const has = (mask: number): number => ((flags & mask) !== 0 ? 1 : 0);
  words[STATE.result >> 2] = has(ZF) ? 0 : 256;
  words[(STATE.result >> 2) + 1] = 0;
  words[STATE.carries >> 2] =
    (has(CF) << CARRY.cf) |
    ((has(CF) ^ has(OF)) << CARRY.carryIn) |
    (has(AF) << CARRY.af) |
    (has(SF) << CARRY.invertSf) |
    ((1 - has(PF)) << CARRY.invertPf);
  words[STATE.control >> 2] = (flags & CONTROL) | ALWAYS;
};
