import type { TrapKind } from '../cpu/engine.ts';

const NO_TRAPS: Readonly<Record<TrapKind, number>> = {
  int3: 0,
  debug: 0,
  syscall: 0,
  interrupt: 0,
  'page-fault': 0,
  'general-protection': 0,
  'stack-fault': 0,
  'invalid-opcode': 0,
  'divide-error': 0,
  'control-protection': 0,
  'fpu-error': 0,
  'simd-error': 0,
  unsupported: 0,
  budget: 0,
};

/** What `--stats` prints of the kernel; instructions are `Kernel.instructions()`. */
export class KernelCounters {
  /** Traps by kind. */
  traps: Record<TrapKind, number> = { ...NO_TRAPS };
  /** Calls by number, those without a row included. */
  syscalls: Map<number, number> = new Map();
  /** Calls that had no row and no claim, by number. */
  unknownSyscalls: Map<number, number> = new Map();
  /** Signals that reached a handler or a default action, by number. */
  signals: Map<number, number> = new Map();
  contextSwitches = 0;

  capture(): Omit<KernelCounters, 'capture' | 'restore'> {
    return {
      traps: { ...this.traps },
      syscalls: new Map(this.syscalls),
      unknownSyscalls: new Map(this.unknownSyscalls),
      signals: new Map(this.signals),
      contextSwitches: this.contextSwitches,
    };
  }

  restore(state: ReturnType<KernelCounters['capture']>): void {
    this.traps = { ...state.traps };
    this.syscalls = new Map(state.syscalls);
    this.unknownSyscalls = new Map(state.unknownSyscalls);
    this.signals = new Map(state.signals);
    this.contextSwitches = state.contextSwitches;
  }
}

/** One more of `key`. */
export const count = (counts: Map<number, number>, key: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
