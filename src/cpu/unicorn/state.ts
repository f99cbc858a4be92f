import { Reg } from '../engine.ts';
import type { LibraryMemory } from './binding.ts';
import { ConditionCodes } from './condition-codes.ts';
import type { Layout } from './layout.ts';

const TF = 0x100;

/** The CPU's state in place: reading or writing is one access to an array. */
export class CpuState {
  private readonly memory: LibraryMemory;
  /** Indices into longs and words. */
  private readonly general: number;
  private readonly flags: number;
  private readonly conditionCodes = new ConditionCodes();
  private readonly cr2: number;
  private readonly next: number;
  private readonly error: number;
  private readonly kind: number;
  private readonly exception: number;
  private readonly leave: number;
  private readonly leaveValue: number;
  /** Low halves of the general registers start here in {@link words}. */
  readonly lowGeneral: number;

  constructor(memory: LibraryMemory, at: number, layout: Layout) {
    this.memory = memory;
    this.general = at / 8;
    this.lowGeneral = at / 4;
    this.flags = (at + layout.flags) / 4;
    this.cr2 = (at + layout.cr2) / 8;
    this.next = (at + layout.nextRip) / 8;
    this.error = (at + layout.errorCode) / 4;
    this.kind = (at + layout.isInterrupt) / 4;
    this.exception = (at + layout.exception) / 4;
    this.leave = (at + layout.leave) / 4;
    this.leaveValue = layout.leaveValue;
  }

  /** @param reg a general register or Rip */
  get(reg: number): bigint {
    return this.memory.longs()[this.general + reg]!;
  }

  set(reg: number, value: bigint): void {
    this.memory.longs()[this.general + reg] = value;
  }

  get rip(): bigint {
    return this.get(Reg.Rip);
  }

  /** Also where control goes after an interrupt hook. */
  set rip(value: bigint) {
    const longs = this.memory.longs();
    longs[this.general + Reg.Rip] = value;
    longs[this.next] = value;
  }

  /** RFLAGS, or undefined where the library must be asked. */
  get knownFlags(): number | undefined {
    return this.conditionCodes.flags(this.memory.words(), this.flags);
  }

  get trapFlag(): boolean {
    return (this.memory.words()[this.flags]! & TF) !== 0;
  }

  set trapFlag(on: boolean) {
    const words = this.memory.words();
    words[this.flags] = on ? words[this.flags]! | TF : words[this.flags]! & ~TF;
  }

  words(): Int32Array {
    return this.memory.words();
  }

  /** The address of the last page fault. */
  get faultAddress(): bigint {
    return this.memory.longs()[this.cr2]!;
  }

  /** The last page fault was a write. */
  get faultWrites(): boolean {
    return (this.memory.words()[this.error]! & 2) !== 0;
  }

  /** The exception in hand comes from an `int n`, `int3` or `into`. */
  get isSoftware(): boolean {
    return this.memory.words()[this.kind]! !== 0;
  }

  /** Ends the handling of an exception: the next is not taken for a double fault. */
  forgetException(): void {
    this.memory.words()[this.exception] = -1;
  }

  /** In a block hook: takes back {@link leaveBlock}, or what a stop has left behind. */
  stayInBlock(): void {
    this.memory.words()[this.leave] = 0;
  }

  /** In a block hook: the block is left before its first instruction, and looked up again. */
  leaveBlock(): void {
    this.memory.words()[this.leave] = this.leaveValue;
  }
}
