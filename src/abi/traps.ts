/** Exception vectors of x86, as sigcontext.trapno shows them (SDM vol. 3, table 6-1). */
export const Vector = {
  DivideError: 0n,
  Debug: 1n,
  Breakpoint: 3n,
  Overflow: 4n,
  InvalidOpcode: 6n,
  StackFault: 12n,
  GeneralProtection: 13n,
  PageFault: 14n,
  FpuError: 16n,
  SimdError: 19n,
  ControlProtection: 21n,
} as const;

/** Page-fault error code (SDM vol. 3, 4.7). */
export const PageFaultCode = { Present: 1n, Write: 2n, User: 4n, InstructionFetch: 16n } as const;

/** Control-protection error code: a near `ret` (SDM vol. 3, 6.15, interrupt 21). */
export const NEAR_RETURN = 1n;

/** EFLAGS bits (SDM vol. 1, 3.4.3). */
export const Flag = {
  CF: 0x1n,
  Fixed: 0x2n,
  PF: 0x4n,
  AF: 0x10n,
  ZF: 0x40n,
  SF: 0x80n,
  TF: 0x100n,
  IF: 0x200n,
  DF: 0x400n,
  OF: 0x800n,
  RF: 0x10000n,
  AC: 0x40000n,
} as const;
