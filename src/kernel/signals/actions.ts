import { NSIG, SIG_DFL } from '../../abi/signals.ts';

/** struct sigaction as rt_sigaction(2) takes it. */
export interface SignalAction {
  /** Address, or SIG_DFL, SIG_IGN. */
  readonly handler: bigint;
  /** Bits of `Sa`. */
  readonly flags: bigint;
  readonly restorer: bigint;
  /** Signals blocked while the handler runs. */
  readonly mask: bigint;
}

export const DEFAULT_ACTION: SignalAction = { handler: SIG_DFL, flags: 0n, restorer: 0n, mask: 0n };

/** The table of signal handlers (sighand_struct); threads share it. */
export class SignalActions {
  #actions: SignalAction[] = Array.from({ length: NSIG + 1 }, () => DEFAULT_ACTION);

  get(signal: number): SignalAction {
    return this.#actions[signal]!;
  }

  set(signal: number, action: SignalAction): void {
    this.#actions[signal] = action;
  }

  capture(): readonly SignalAction[] {
    return [...this.#actions];
  }

  restore(actions: readonly SignalAction[]): void {
    this.#actions = [...actions];
  }
}
