/** Which instructions are emulated instead of stepped (spec section 3.3). */
import { Reg } from '../../cpu/engine.ts';
import type { Insn } from '../../x86/insn.ts';
import { Prefix } from '../../x86/insn-prefixes.ts';
import type { Profile } from '../profiles.ts';
import type { Handling } from './analysis.ts';
import { isEmulatedNop } from './nops.ts';

const isJcc8 = (opcode: number): boolean => opcode >> 4 === 7;

/** The opcode byte that decides; near jcc (0F 8x) is seen as its short form. Null = no branch. */
const branchOpcode = (insn: Insn): number | null => {
  const [first = 0, second = 0] = insn.opcode;
  if (first !== 0x0f) return first;
  return insn.opcode.length === 2 && isJcc8(second - 0x10) ? second - 0x10 : null;
};

/**
 * Near jumps and calls. Only the opcode byte is looked at, so VEX and EVEX instructions that share
 * it are taken for branches too: the kernel's own error, kept.
 */
const branchHandling = (insn: Insn): Handling | null => {
  const opcode = branchOpcode(insn);
  if (opcode === null) return null;
  const displacement = BigInt(insn.immediate);
  if (opcode === 0xe9 || opcode === 0xeb) return { kind: 'jump', displacement };
  if (opcode === 0xe8) return { kind: 'call', displacement };
  if (isJcc8(opcode)) return { kind: 'branch', condition: opcode & 15, displacement };
  return null;
};

const REX_B_ALONE = 0x41;

/** push %reg without prefixes, or with exactly REX.B. */
const pushHandling = (insn: Insn): Handling | null => {
  const [opcode = 0] = insn.opcode;
  if (opcode < 0x50 || opcode > 0x57) return null;
  if (insn.length === 1) return { kind: 'push', register: (opcode - 0x50) as Reg };
  if (insn.length !== 2 || insn.rex.length !== 1 || insn.rex[0] !== REX_B_ALONE) return null;
  return { kind: 'push', register: (Reg.R8 + opcode - 0x50) as Reg };
};

/** A branch whose operand-size prefix Intel and AMD read differently. */
const isAmbiguousBranch = (insn: Insn): boolean => insn.prefixes.includes(Prefix.OperandSize);

/** What a hit does, or why the instruction is refused after all. */
export const classify = (
  insn: Insn,
  bytes: Uint8Array,
  profile: Profile,
): { readonly handling: Handling } | { readonly refused: string } => {
  if (isEmulatedNop(insn, bytes, profile)) return { handling: { kind: 'nop' } };
  const branch = branchHandling(insn);
  if (branch !== null && isAmbiguousBranch(insn))
    return { refused: '0x66 prefix on a near branch: Intel and AMD read it differently' };
  return { handling: branch ?? pushHandling(insn) ?? { kind: 'step' } };
};
