/** The FXSAVE64 image (SDM vol. 1, table 10-2) put together from single registers. */
import { view } from '../../base/bytes.ts';
import { UcReg, type UnicornCpu } from './binding.ts';

const OFFSET = { fcw: 0, fsw: 2, ftw: 4, mxcsr: 24, mxcsrMask: 28, st: 32, xmm: 160 } as const;
/** Bits of MXCSR that exist; FXSAVE reports them. */
const MXCSR_MASK = 0xffff;

const small = (cpu: UnicornCpu, id: number): number => Number(cpu.readRegister(id) & 0xffff_ffffn);

/** Two bits a register (11 = empty) to one bit (1 = in use). */
const abridge = (tags: number): number => {
  let abridged = 0;
  for (let i = 0; i < 8; i++) if (((tags >> (2 * i)) & 3) !== 3) abridged |= 1 << i;
  return abridged;
};

const expand = (abridged: number): number => {
  let tags = 0;
  for (let i = 0; i < 8; i++) if ((abridged & (1 << i)) === 0) tags |= 3 << (2 * i);
  return tags;
};

export const readFxImage = (cpu: UnicornCpu, into: Uint8Array): void => {
  into.fill(0);
  const out = view(into);
  const status = small(cpu, UcReg.fpsw) & 0xffff;
  const top = (status >> 11) & 7;
  out.setUint16(OFFSET.fcw, small(cpu, UcReg.fpcw) & 0xffff, true);
  out.setUint16(OFFSET.fsw, status, true);
  out.setUint8(OFFSET.ftw, abridge(small(cpu, UcReg.fptag) & 0xffff));
  out.setUint32(OFFSET.mxcsr, small(cpu, UcReg.mxcsr), true);
  out.setUint32(OFFSET.mxcsrMask, MXCSR_MASK, true);
  for (let i = 0; i < 8; i++) {
    const at = OFFSET.st + 16 * i;
    cpu.readRegisterBytes(UcReg.fp0 + ((top + i) & 7), into.subarray(at, at + 10));
  }
  for (let i = 0; i < 16; i++) {
    const at = OFFSET.xmm + 16 * i;
    cpu.readRegisterBytes(UcReg.xmm0 + i, into.subarray(at, at + 16));
  }
};

export const writeFxImage = (cpu: UnicornCpu, image: Uint8Array): void => {
  const from = view(image);
  const status = from.getUint16(OFFSET.fsw, true);
  const top = (status >> 11) & 7;
  cpu.writeRegister(UcReg.fpcw, BigInt(from.getUint16(OFFSET.fcw, true)));
  cpu.writeRegister(UcReg.fpsw, BigInt(status));
  cpu.writeRegister(UcReg.mxcsr, BigInt(from.getUint32(OFFSET.mxcsr, true)));
  for (let i = 0; i < 8; i++) {
    const at = OFFSET.st + 16 * i;
    cpu.writeRegisterBytes(UcReg.fp0 + ((top + i) & 7), image.subarray(at, at + 10));
  }
  // Last: writing a register may mark it as in use.
  cpu.writeRegister(UcReg.fptag, BigInt(expand(from.getUint8(OFFSET.ftw))));
  for (let i = 0; i < 16; i++) {
    const at = OFFSET.xmm + 16 * i;
    cpu.writeRegisterBytes(UcReg.xmm0 + i, image.subarray(at, at + 16));
  }
};
