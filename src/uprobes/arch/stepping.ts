/** The copy that runs in a slot, and what must be repaired after it (spec section 3.5). */
import { Reg } from '../../cpu/engine.ts';
import {
  type Insn,
  immOffset,
  isRipRelative,
  modrmOffset,
  modrmReg,
  rexOffset,
  vectorOffset,
} from '../../x86/insn.ts';
import type { Handling, IpFixup, Stepping } from './analysis.ts';

/** Opcodes whose result in ip is final: returns and far jmp. They are not asked for an operand. */
const ABSOLUTE = new Set([0xc3, 0xcb, 0xc2, 0xca, 0xea]);
const FAR_CALL = 0x9a;
const POPF = 0x9d;
const GROUP_5 = 0xff;
/** Second opcode byte. */
const SYSCALL = 0x05;

/** modrm.reg of opcode FF: indirect calls and jumps, near and far. */
const GROUP_5_FIXUP: readonly IpFixup[] = ['ip', 'ip', 'call', 'call', 'none', 'none', 'ip', 'ip'];

const ipFixupOf = (insn: Insn): IpFixup => {
  const [opcode = 0] = insn.opcode;
  if (ABSOLUTE.has(opcode)) return 'none';
  if (opcode === FAR_CALL) return 'call';
  return opcode === GROUP_5 ? (GROUP_5_FIXUP[modrmReg(insn)] ?? 'ip') : 'ip';
};

const mayBeRipRelative = (insn: Insn): boolean => {
  const [opcode = 0] = insn.opcode;
  return !ABSOLUTE.has(opcode) && opcode !== FAR_CALL && opcode !== POPF && isRipRelative(insn);
};

/** Scratch registers in order of preference: no instruction uses these three implicitly with modrm. */
const SCRATCH = [Reg.Rsi, Reg.Rdi, Reg.Rbx] as const;

/** vvvv of a vector prefix, low three bits, not inverted; 0 without one. */
const vvvv = (insn: Insn): number =>
  insn.vector === null ? 0 : (((insn.vectorBytes[2] ?? 0) >> 3) & 7) ^ 7;

const scratchFor = (insn: Insn): Reg =>
  SCRATCH.find((reg) => reg === Reg.Rbx || (modrmReg(insn) !== reg && vvvv(insn) !== reg)) ??
  Reg.Rbx;

const REX_B = 0x01;
/** VEX3.X and B, or EVEX.X and B; they are stored inverted, so setting them switches them off. */
const VECTOR_XB = 0x60;
const MOD_DISP32 = 0x80;

/** Turns disp32(%rip) into disp32(%scratch), same length. */
const rewrite = (insn: Insn, bytes: Uint8Array, scratch: Reg): void => {
  const change = (offset: number, to: (byte: number) => number): void => {
    bytes[offset] = to(bytes[offset] ?? 0);
  };
  if (insn.rex.length > 0) change(rexOffset(insn), (byte) => byte & ~REX_B);
  if (insn.vector !== null && insn.vector !== 'vex2')
    change(vectorOffset(insn) + 1, (byte) => byte | VECTOR_XB);
  change(modrmOffset(insn), () => MOD_DISP32 | (modrmReg(insn) << 3) | scratch);
};

const emulated = (bytes: Uint8Array, ipFixup: IpFixup): Stepping => ({
  bytes,
  ipFixup,
  keepTf: false,
  trapsLate: false,
  scratch: null,
});

/** A call that cannot be emulated is stepped with its displacement gone, for the fault it makes. */
const forCall = (insn: Insn, bytes: Uint8Array): Stepping => {
  const offset = immOffset(insn);
  bytes.fill(0, offset, offset + insn.immSize);
  return emulated(bytes, 'retry');
};

/** `bytes`: the 16 bytes of the copy; a new array comes back. */
export const steppingOf = (insn: Insn, bytes: Uint8Array, handling: Handling): Stepping => {
  const copy = bytes.slice();
  if (handling.kind === 'call') return forCall(insn, copy);
  if (handling.kind !== 'step') return emulated(copy, 'none');
  const scratch = mayBeRipRelative(insn) ? scratchFor(insn) : null;
  if (scratch !== null) rewrite(insn, copy, scratch);
  return {
    bytes: copy,
    ipFixup: ipFixupOf(insn),
    keepTf: insn.opcode[0] === POPF,
    trapsLate: insn.opcode[0] === 0x0f && insn.opcode[1] === SYSCALL,
    scratch,
  };
};
