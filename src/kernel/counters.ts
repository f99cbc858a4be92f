import type { TrapKind } from '../cpu/engine.ts';

/** What `--stats` prints of the kernel; instructions are the engines'. */
export interface KernelCounters {
  /** Traps by kind. */
  readonly traps: Record<TrapKind, number>;
  /** Calls by number, those without a row included. */
  readonly syscalls: Map<number, number>;
  /** Calls that had no row and no claim, by number. */
  readonly unknownSyscalls: Map<number, number>;
  /** Signals delivered (handler or default action), by number. */
  readonly signals: Map<number, number>;
  contextSwitches: number;
}

/** All zero. */
export const createCounters = (): KernelCounters => ({
  traps: {
    int3: 0,
    debug: 0,
    syscall: 0,
    interrupt: 0,
    'page-fault': 0,
    'general-protection': 0,
    'stack-fault': 0,
    'invalid-opcode': 0,
    'divide-error': 0,
    'fpu-error': 0,
    'simd-error': 0,
    unsupported: 0,
    budget: 0,
  },
  syscalls: new Map(),
  unknownSyscalls: new Map(),
  signals: new Map(),
  contextSwitches: 0,
});

/** One more of `key`. */
export const count = (counts: Map<number, number>, key: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
