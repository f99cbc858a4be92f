/** One piece of code with a state, as both sides take it, and what it came to. */

export const NATIVE_CODE = 0x4_0000_0000n;
export const NATIVE_DATA = 0x6_0000_0000n;
/** Bytes around the border of the two writable pages; all that code of a case should touch. */
export const WINDOW_SIZE = 512;
export const WINDOW = NATIVE_DATA + 0x1000n - 256n;
export const CODE_SIZE = 64;

export interface State {
  readonly gpr: readonly bigint[];
  readonly flags: bigint;
  readonly fx: Uint8Array;
  readonly window: Uint8Array;
}

export interface Case {
  readonly code: Uint8Array;
  readonly state: State;
}

/** How a case ended: at its closing int3, or by a fault. */
export type End = 'int3' | 'segv' | 'ill' | 'fpe' | 'bus' | 'other';

export interface Outcome extends State {
  readonly end: End;
  /** Relative to the code. */
  readonly rip: bigint;
  /** Of a page fault; 0 for others. */
  readonly address: bigint;
}
