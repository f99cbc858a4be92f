/** A table of recorded instruction runs, in the form of `insn-exec.json`. */

export interface RecordedSignal {
  readonly signo: number;
  readonly code: number;
  readonly addr: string | null;
  readonly ip: string;
  readonly trapno: number;
  readonly err: number;
}

/** State after a run; addresses and registers are `0x…`. */
export interface Recorded {
  readonly regs: Readonly<Record<string, string>>;
  readonly flags: string;
  readonly end: 'cap0' | 'cap1' | null;
  readonly signal?: RecordedSignal;
  /** 32 bytes each; in signal cases only the lower 16 (`xmm`). */
  readonly ymm?: readonly string[];
  readonly xmm?: readonly string[];
  readonly k1?: string;
  /** Bytes that differ from the initial ones: address, hex. */
  readonly mem: readonly (readonly [string, string])[];
  readonly hits?: number;
}

export type Variant = 'plain' | 'probed' | 'probed_x3';

export interface ExecCase {
  readonly name: string;
  readonly bytes: string;
  readonly entry: string;
  readonly site: string;
  /** Bytes from `entry` on. */
  readonly code: string;
  readonly alt: string;
  readonly regs: Readonly<Record<string, string>>;
  /** Registers that are not deterministic. */
  readonly masked: readonly string[];
  readonly errno: string;
  readonly how: 'emulated' | 'xol' | null;
  readonly optimised: boolean;
  readonly plain: Recorded;
  readonly probed: Recorded | null;
  readonly probed_x3: Recorded | null;
}

export interface ExecTable {
  readonly kernel: string;
  readonly cap0: string;
  readonly cap1: string;
  readonly flags: string;
  readonly cases: readonly ExecCase[];
}
