import { u64 } from '../../base/bytes.ts';
import { Reg, type RegisterFile } from '../engine.ts';
import { UcReg, type UnicornCpu } from './binding.ts';
import { readFxImage, writeFxImage } from './fx-image.ts';
import type { CpuState } from './state.ts';

/** Bit 1 is always set, IF is set whenever user code runs. */
const FLAGS_ALWAYS = 0x202n;
/** What user code or the kernel for it may change: CF PF AF ZF SF TF DF OF NT RF AC ID. */
const FLAGS_USER = 0x25_4dd5n;
export const TF = 0x100n;

const SEGMENT_BASES: Readonly<Record<number, number>> = {
  [Reg.FsBase]: UcReg.fsBase,
  [Reg.GsBase]: UcReg.gsBase,
};

/** The registers as the layers above see them. */
export class UnicornRegisters implements RegisterFile {
  private readonly cpu: UnicornCpu;
  private readonly state: CpuState;
  /** RIP as the trap defines it, less what the CPU holds meanwhile (2 at a `syscall`). */
  ripBias = 0n;
  /** TF is set by us and does not show. */
  hideTrapFlag = false;
  /** RFLAGS has been written since this was last cleared. */
  flagsWritten = false;

  constructor(cpu: UnicornCpu, state: CpuState) {
    this.cpu = cpu;
    this.state = state;
  }

  read(reg: Reg): bigint {
    if (reg < Reg.Rip) return this.state.get(reg);
    if (reg === Reg.Rip) return u64(this.state.rip + this.ripBias);
    if (reg === Reg.Rflags) return this.readFlags();
    return this.cpu.readRegister(SEGMENT_BASES[reg]!);
  }

  write(reg: Reg, value: bigint): void {
    if (reg < Reg.Rip) this.state.set(reg, value);
    else if (reg === Reg.Rip) this.state.rip = value - this.ripBias;
    else if (reg === Reg.Rflags) this.writeFlags(value);
    else this.cpu.writeRegister(SEGMENT_BASES[reg]!, u64(value));
  }

  readFx(into: Uint8Array): void {
    readFxImage(this.cpu, into);
  }

  writeFx(image: Uint8Array): void {
    writeFxImage(this.cpu, image);
  }

  get trapFlag(): boolean {
    return !this.hideTrapFlag && this.state.trapFlag;
  }

  set trapFlag(on: boolean) {
    this.flagsWritten = true;
    // As in writeFlags.
    if (on) this.hideTrapFlag = false;
    this.state.trapFlag = on || this.hideTrapFlag;
  }

  private readFlags(): bigint {
    const known = this.state.knownFlags;
    const flags = known === undefined ? this.cpu.readRegister(UcReg.eflags) : BigInt(known);
    const shown = (flags & 0x3f_ffffn) | FLAGS_ALWAYS;
    return this.hideTrapFlag ? shown & ~TF : shown;
  }

  private writeFlags(value: bigint): void {
    this.flagsWritten = true;
    // A trap flag written from above is real and shows; without one ours stays.
    if ((value & TF) !== 0n) this.hideTrapFlag = false;
    const hidden = this.hideTrapFlag ? TF : 0n;
    this.cpu.writeRegister(UcReg.eflags, (value & FLAGS_USER) | FLAGS_ALWAYS | hidden);
  }
}
