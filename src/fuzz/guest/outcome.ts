/** What one call of a function came to. */
import { DATA, PAGE, STACK } from './layout.ts';

/** A signal that ended the call. */
export interface SignalFacts {
  readonly signal: number;
  readonly code: number;
  readonly address: bigint;
  readonly ip: bigint;
  readonly trapNumber: bigint;
  readonly error: bigint;
}

/** How a call ended. `lost` = it ran on and on; `unsupported` = the engine lacks an instruction. */
export type End = 'returned' | 'signal' | 'lost' | 'unsupported';

export interface Outcome {
  readonly end: End;
  /** `unsupported`: the instruction. */
  readonly text: string;
  /** General registers by hardware number, then flags. */
  readonly regs: BigUint64Array;
  readonly signal: SignalFacts | null;
  /** Data and stack pages. */
  readonly memory: Uint8Array;
  /** FXSAVE image, where the case uses it. */
  readonly fx: Uint8Array | null;
}

/** Index of flags in {@link Outcome.regs}. */
export const FLAGS = 16;
export const SP = 4;

/** Address of a byte of {@link Outcome.memory}. */
export const addressOf = (index: number): bigint =>
  index < DATA.pages * PAGE
    ? DATA.start + BigInt(index)
    : STACK.start + BigInt(index - DATA.pages * PAGE);
