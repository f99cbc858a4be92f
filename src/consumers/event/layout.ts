/** The arguments of one probe, compiled for evaluation: where each starts and where it is stored. */
import { Reg } from '../../cpu/engine.ts';
import type { Hit } from '../../uprobes/index.ts';
import { argSize, type FetchArg } from './argument.ts';
import type { Base } from './operand.ts';

export type Source = (hit: Hit) => bigint;

export interface Slot {
  readonly arg: FetchArg;
  /** Place in the record. */
  readonly at: number;
  readonly source: Source;
  /** Offsets of the 8-byte reads before the typed one. */
  readonly inner: readonly bigint[];
  /** Offset of the typed read; null = the value itself is stored. */
  readonly last: bigint | null;
}

const fromRegister =
  (reg: Reg): Source =>
  (hit) =>
    hit.regs.read(reg);

const constant =
  (value: bigint): Source =>
  () =>
    value;

/** Registers by pt_regs name. int3 and both uprobe system calls leave orig_ax at -1. */
const REGISTERS = {
  ax: fromRegister(Reg.Rax),
  bx: fromRegister(Reg.Rbx),
  cx: fromRegister(Reg.Rcx),
  dx: fromRegister(Reg.Rdx),
  si: fromRegister(Reg.Rsi),
  di: fromRegister(Reg.Rdi),
  bp: fromRegister(Reg.Rbp),
  sp: fromRegister(Reg.Rsp),
  r8: fromRegister(Reg.R8),
  r9: fromRegister(Reg.R9),
  r10: fromRegister(Reg.R10),
  r11: fromRegister(Reg.R11),
  r12: fromRegister(Reg.R12),
  r13: fromRegister(Reg.R13),
  r14: fromRegister(Reg.R14),
  r15: fromRegister(Reg.R15),
  ip: fromRegister(Reg.Rip),
  flags: fromRegister(Reg.Rflags),
  cs: constant(0x33n),
  ss: constant(0x2bn),
  orig_ax: constant((1n << 64n) - 1n),
} as const;

const stackWord =
  (index: bigint): Source =>
  (hit) => {
    const address = BigInt.asUintN(64, hit.regs.read(Reg.Rsp) + 8n * index);
    return hit.task.mm.space.readU64(address) ?? 0n;
  };

/** What `base` means for a probe at byte `offset` of its file. */
const sourceOf = (base: Base, offset: bigint): Source => {
  switch (base.kind) {
    case 'register':
      return REGISTERS[base.name];
    case 'stack':
      return stackWord(base.index);
    case 'file-offset':
      return (hit) => hit.site - offset + base.offset;
    case 'immediate':
      return constant(base.value);
    case 'comm':
    case 'text':
      return constant(0n);
  }
};

export class ArgLayout {
  readonly slots: readonly Slot[];
  /** Those whose value is in the fixed part, and those with strings behind it. */
  readonly plain: readonly Slot[];
  readonly dynamic: readonly Slot[];
  readonly fixedSize: number;
  /** Bytes of a record before its arguments: common fields and one address, two for returns. */
  readonly head: number;

  /** @param offset byte of the file where the probe is. */
  constructor(args: readonly FetchArg[], kind: 'entry' | 'return', offset: bigint) {
    this.head = kind === 'entry' ? 16 : 24;
    let at = this.head;
    this.slots = args.map((arg) => {
      const slot: Slot = {
        arg,
        at,
        source: sourceOf(arg.base, offset),
        inner: arg.derefs.slice(0, -1),
        last: arg.derefs.at(-1) ?? null,
      };
      at += argSize(arg);
      return slot;
    });
    this.plain = this.slots.filter(({ arg }) => arg.type.style !== 'string');
    this.dynamic = this.slots.filter(({ arg }) => arg.type.style === 'string');
    this.fixedSize = at - this.head;
  }
}
