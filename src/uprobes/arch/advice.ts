/** What a user can do about a refused instruction. */
import type { Insn } from '../../x86/insn.ts';
import { Prefix } from '../../x86/insn-prefixes.ts';
import { isRefusedPrefix } from './refusals.ts';

/** Segment prefixes mean nothing in 64-bit mode, and an int3 behind one still traps. */
const isIdlePrefix = (byte: number): boolean => isRefusedPrefix(byte) && byte !== Prefix.Lock;

const isLongNop = (insn: Insn): boolean => insn.opcode[0] === 0x0f && insn.opcode[1] === 0x1f;

/**
 * Preconditions: the instruction is refused.
 * @param accepts whether a probe that many bytes further would be accepted
 */
export const adviceFor = (insn: Insn, accepts: (skipped: number) => boolean): string => {
  const idle = insn.prefixes.filter(isIdlePrefix);
  const others = insn.prefixes.length - idle.length;
  // Leaving out 66 before a nop changes nothing either.
  const harmless = idle.length > 0 && (others === 0 || isLongNop(insn));
  if (harmless && accepts(insn.prefixCount)) return `attach at +${insn.prefixCount}`;
  return 'attach at the instruction before or after it';
};
