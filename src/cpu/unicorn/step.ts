/** A single step that the program cannot see: EFLAGS.TF set by us. */
import { Reg } from '../engine.ts';
import type { GuestMemory } from './memory.ts';
import type { UnicornRegisters } from './registers.ts';
import type { CpuState } from './state.ts';
import { mnemonicAt } from './traps.ts';

/** Byte and bit of TF in a pushed flags word. */
const TF_BYTE = 1;
const TF_BIT = 1;

export class Step {
  /** The instruction has been executed. */
  done = false;
  private readonly state: CpuState;
  private readonly regs: UnicornRegisters;
  private readonly memory: GuestMemory;
  private readonly mnemonic: string;

  constructor(state: CpuState, regs: UnicornRegisters, memory: GuestMemory) {
    this.state = state;
    this.regs = regs;
    this.memory = memory;
    this.mnemonic = mnemonicAt(memory, regs.read(Reg.Rip));
    // A trap flag the program has set traps for itself.
    if (state.trapFlag) return;
    regs.hideTrapFlag = true;
    state.trapFlag = true;
  }

  /** Takes the trap flag away again, also where the instruction has copied it. */
  end(): void {
    if (!this.regs.hideTrapFlag) return;
    this.regs.hideTrapFlag = false;
    // After popf the flag is the program's own.
    if (this.done && this.mnemonic.startsWith('popf')) return;
    this.state.trapFlag = false;
    if (this.done && this.mnemonic.startsWith('pushf')) this.clearPushed();
  }

  private clearPushed(): void {
    const at = Number(this.regs.read(Reg.Rsp)) + TF_BYTE;
    this.memory.write(at, Uint8Array.of(this.memory.byteAt(at)! & ~TF_BIT));
  }
}
