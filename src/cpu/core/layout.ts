/**
 * Where things lie in an engine's linear memory. The first 64 KiB hold the CPU's state, so that a 16-bit
 * field of a record can name any register; frames of guest memory and records follow from FIRST_FRAME on.
 */

export const STATE = {
  /** i64: instructions that may still run; below 0 = the budget is used up. */
  remaining: 0x40,
  /** i64: last arithmetic result, sign-extended: ZF, SF, PF. */
  result: 0x48,
  /** i32: CF, OF, AF and corrections of PF and SF; see emit/flags.ts. */
  carries: 0x50,
  /** i32: the flags that are not arithmetic, as in RFLAGS. */
  control: 0x54,
  /** i64: target of an indirect jump that left the module. */
  rip: 0x58,
  /** i32: the record at which the module was left. */
  record: 0x60,
  /** i64: an operand on its way to a host routine. */
  scratch: 0x68,
  /** Always 0: base or index of an address that has none. */
  zero: 0x78,
  gpr: 0x100,
  fsBase: 0x180,
  gsBase: 0x188,
  mxcsr: 0x190,
  fcw: 0x194,
  fsw: 0x196,
  /** One bit a physical register: in use. */
  ftw: 0x198,
  /** Six selectors by hardware number (ES CS SS DS FS GS), 2 bytes each. */
  selectors: 0x1a0,
  /** Physical x87 registers, 16 bytes each; MMX registers are their first 8. */
  st: 0x300,
  /** 32 bytes each. */
  xmm: 0x400,
  /** Where an access that crosses pages, or touches code, is done. */
  bounce: 0x800,
  /** Vector operands and result of a host routine, 16 bytes each. */
  vectorX: 0xb00,
  vectorY: 0xb10,
  vectorResult: 0xb20,
  end: 0x1000,
} as const;

/** Software TLB: direct-mapped entries of 16 bytes: i64 page address, i32 host address minus the page's low 32 bits. */
export const TLB = { read: 0x4000, write: 0x8000, entries: 1024 } as const;

/** Indirect jumps: direct-mapped entries of 16 bytes: i64 target, i32 record. */
export const JUMPS = { at: 0x10000, entries: 4096 } as const;

export const FIRST_FRAME = 0x20000;
export const FRAME = 4096;

/** A pre-decoded instruction: 64 bytes, in the order of the program. */
export const RECORD = {
  size: 64,
  /** i32: index of the handler in the table. */
  handler: 0,
  /** u16 each: addresses of the register operands, by operand number. */
  operand: 4,
  base: 12,
  index: 14,
  segment: 16,
  /** u8: shift of the index. */
  scale: 18,
  length: 19,
  /** u8: instructions of the block before this one. */
  place: 20,
  /** u8: 1 = the memory operand goes through SS. */
  stack: 21,
  /** i64: the immediate, or a call's return address. */
  immediate: 24,
  /** i64: displacement, or the second immediate. */
  displacement: 32,
  ip: 40,
  /** i32: record of a direct jump's target. */
  link: 48,
  /** i64: all ones, or 2^32 - 1 with 32-bit addresses. */
  addressMask: 56,
} as const;

/** Why a handler left the module. */
export const Exit = {
  /** The access of `slow` failed; the instruction has changed nothing. */
  Fault: 0,
  /** A record that has to be (re)decoded. */
  Resolve: 1,
  /** An indirect jump, done and counted; STATE.rip is its target. */
  Indirect: 2,
  /** A direct jump, done and counted; STATE.record is its target. */
  Budget: 3,
  /** The end of a single step. */
  StepEnd: 4,
  /** An iteration of a string instruction is done and counted, others follow. */
  Iteration: 5,
  /** Done; something outside the module has to look before the next instruction. */
  Next: 6,
  Int3: 7,
  Int1: 8,
  Interrupt: 9,
  Syscall: 10,
  GeneralProtection: 11,
  InvalidOpcode: 12,
  DivideError: 13,
  Unsupported: 14,
  FpuError: 15,
  SimdError: 16,
} as const;
export type Exit = (typeof Exit)[keyof typeof Exit];

/** Numbers of the module's imports, and of the type that handlers have (`tier0/module.ts`). */
export const Import = { slow: 0, commit: 1, host: 2 } as const;
export const HANDLER_TYPE = 0;

/** Third argument of the import `slow`: how the access was meant. */
export const How = { size: 0xffff, write: 0x10000, stack: 0x20000 } as const;
