/** What the analysis of an instruction comes to: plain data, made once a uprobe. */
import type { Reg } from '../../cpu/engine.ts';

/** `ENOTSUPP` is the kernel's own 524: understood and refused. `ENOEXEC`: not understood. */
export type RefusalErrno = 'ENOTSUPP' | 'ENOEXEC';

export interface Refused {
  readonly verdict: 'refuse';
  readonly errno: RefusalErrno;
  /** Null when undecodable. */
  readonly length: number | null;
  readonly reason: string;
  /** What would work instead, or null. */
  readonly advice: string | null;
}

/** How a hit executes the instruction. */
export type Handling =
  | { readonly kind: 'nop' }
  | { readonly kind: 'jump'; readonly displacement: bigint }
  /** `condition` is the low nibble of the opcode (SDM vol. 2, appendix B.1.4.7). */
  | { readonly kind: 'branch'; readonly condition: number; readonly displacement: bigint }
  | { readonly kind: 'call'; readonly displacement: bigint }
  | { readonly kind: 'push'; readonly register: Reg }
  | { readonly kind: 'step' };

/**
 * What is repaired after a step: `ip` is moved back by the distance of the slot, `call` replaces
 * the return address that the slot pushed, `none` trusts what the instruction loaded. `retry` drops
 * the pushed address and runs the probed instruction again (a call that could not be emulated).
 */
export type IpFixup = 'ip' | 'call' | 'none' | 'retry';

/** How the instruction runs in a slot; also what an emulation that fails falls back on. */
export interface Stepping {
  /** The 16 bytes that are copied. */
  readonly bytes: Uint8Array;
  readonly ipFixup: IpFixup;
  /** popf: TF stays as the instruction loaded it. */
  readonly keepTf: boolean;
  /**
   * syscall: the CPU masks TF on the way into the kernel, so the trap comes one instruction later;
   * that one runs in the slot too (seen on 6.18.44).
   */
  readonly trapsLate: boolean;
  /** Stands in for ip in a RIP-relative operand. */
  readonly scratch: Reg | null;
}

export interface Accepted {
  readonly verdict: 'emulate' | 'step';
  readonly length: number;
  readonly reason: string;
  readonly handling: Handling;
  readonly stepping: Stepping;
  /** The profile turns the site into a call of this kind after its first hit. */
  readonly optimise: 'nop5' | 'nop10' | null;
}

export type Analysis = Refused | Accepted;
