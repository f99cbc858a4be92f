import { u64 } from '../../base/bytes.ts';
import { Reg, type RegisterFile } from '../engine.ts';
import { UcReg, type UnicornCpu } from './binding.ts';
import { readFxImage, writeFxImage } from './fx-image.ts';

const IDS: readonly number[] = [
  ...UcReg.general,
  UcReg.rip,
  UcReg.eflags,
  UcReg.fsBase,
  UcReg.gsBase,
];
/** Bit 1 is always set, IF is set whenever user code runs. */
const FLAGS_ALWAYS = 0x202n;

/** The registers of a {@link UnicornCpu}, with RIP as the trap in hand defines it. */
export class UnicornRegisters implements RegisterFile {
  private readonly cpu: UnicornCpu;
  /** RIP where it differs from what the CPU holds; undefined: ask the CPU. */
  rip: bigint | undefined;
  ripWritten = false;

  constructor(cpu: UnicornCpu) {
    this.cpu = cpu;
  }

  read(reg: Reg): bigint {
    if (reg === Reg.Rip && this.rip !== undefined) return this.rip;
    const value = this.cpu.readRegister(IDS[reg]!);
    return reg === Reg.Rflags ? (value & 0xffff_ffffn) | FLAGS_ALWAYS : value;
  }

  write(reg: Reg, value: bigint): void {
    if (reg === Reg.Rip) {
      this.rip = u64(value);
      this.ripWritten = true;
    } else {
      const masked = reg === Reg.Rflags ? value | FLAGS_ALWAYS : value;
      this.cpu.writeRegister(IDS[reg]!, u64(masked));
    }
  }

  readFx(into: Uint8Array): void {
    readFxImage(this.cpu, into);
  }

  writeFx(image: Uint8Array): void {
    writeFxImage(this.cpu, image);
  }
}
