import { Ss } from '../../abi/signals.ts';

export interface AltStackState {
  readonly sp: bigint;
  readonly size: bigint;
  readonly flags: number;
}

/** A task's alternate signal stack (sas_ss_*). */
export class AltStack {
  sp = 0n;
  size = 0n;
  /** 0, SS_DISABLE, or SS_AUTODISARM; 0 before the first call, as signal frames show. */
  flags = 0;

  /** `sp` lies on the stack, whatever its flags. */
  contains(sp: bigint): boolean {
    return sp > this.sp && sp - this.sp <= this.size;
  }

  /** The task runs on it; never true with SS_AUTODISARM, which forgets the stack while in use. */
  isActive(sp: bigint): boolean {
    return (this.flags & Ss.AUTODISARM) === 0 && this.contains(sp);
  }

  /** What sigaltstack(2) reports besides SS_AUTODISARM: SS_DISABLE, SS_ONSTACK or 0. */
  statusFlags(sp: bigint): number {
    if (this.size === 0n) return Ss.DISABLE;
    return this.isActive(sp) ? Ss.ONSTACK : 0;
  }

  /** What the structure of sigaltstack(2) reports. */
  reportedFlags(sp: bigint): number {
    return this.statusFlags(sp) | (this.flags & Ss.AUTODISARM);
  }

  /** Disables it (sas_ss_reset). */
  reset(): void {
    this.sp = 0n;
    this.size = 0n;
    this.flags = Ss.DISABLE;
  }

  capture(): AltStackState {
    return { sp: this.sp, size: this.size, flags: this.flags };
  }

  restore(state: AltStackState): void {
    Object.assign(this, state);
  }
}
