/** The FXSAVE image as signal frames carry it: our CPU has no XSAVE. */

import { SiCode } from '../../abi/signals.ts';
import { view } from '../../base/bytes.ts';
import { FX_IMAGE_SIZE, type RegisterFile } from '../../cpu/engine.ts';

/** Offsets in the image (SDM vol. 1, table 10-2). */
const FCW = 0;
const FSW = 2;
const MXCSR = 24;

/** What FNINIT leaves in FCW, and the default of MXCSR: all exceptions masked. */
const DEFAULT_FCW = 0x37f;
const DEFAULT_MXCSR = 0x1f80;
/** Bits of MXCSR that exist; a set one beyond them makes FXRSTOR fault. */
const MXCSR_BITS = 0xffff;

const fresh = new Uint8Array(FX_IMAGE_SIZE);
view(fresh).setUint16(FCW, DEFAULT_FCW, true);
view(fresh).setUint32(MXCSR, DEFAULT_MXCSR, true);

/** State of a new program and of every signal handler. */
export const resetFpu = (regs: RegisterFile): void => regs.writeFx(fresh);

/** FXRSTOR of a user's image; false where the instruction would fault. */
export const restoreFpu = (regs: RegisterFile, image: Uint8Array): boolean => {
  if ((view(image).getUint32(MXCSR, true) & ~MXCSR_BITS) !== 0) return false;
  regs.writeFx(image);
  return true;
};

/** Exception bits of FSW and MXCSR alike: which si_code each of them means, in the order asked. */
const FPE_CODES: readonly (readonly [bits: number, code: number])[] = [
  [0x01, SiCode.FPE_FLTINV],
  [0x04, SiCode.FPE_FLTDIV],
  [0x08, SiCode.FPE_FLTOVF],
  // A denormal operand counts as underflow.
  [0x12, SiCode.FPE_FLTUND],
  [0x20, SiCode.FPE_FLTRES],
];

const codeOf = (unmasked: number): number =>
  FPE_CODES.find(([bits]) => (unmasked & bits) !== 0)?.[1] ?? 0;

/** si_code of an x87 (#MF) or SSE (#XM) exception; 0 if no unmasked exception is there. */
export const fpeCode = (regs: RegisterFile, unit: 'x87' | 'sse'): number => {
  const image = new Uint8Array(FX_IMAGE_SIZE);
  regs.readFx(image);
  const fields = view(image);
  if (unit === 'x87') return codeOf(fields.getUint16(FSW, true) & ~fields.getUint16(FCW, true));
  const mxcsr = fields.getUint32(MXCSR, true);
  // The masks lie seven bits above their flags.
  return codeOf(mxcsr & ~(mxcsr >>> 7));
};
