import { Ss } from '../../abi/signals.ts';

/** A task's alternate signal stack (sas_ss_*). */
export class AltStack {
  sp = 0n;
  size = 0n;
  /** 0, SS_DISABLE, or SS_AUTODISARM. */
  flags: number = Ss.DISABLE;

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

  reset(): void {
    this.sp = 0n;
    this.size = 0n;
    this.flags = Ss.DISABLE;
  }
}
