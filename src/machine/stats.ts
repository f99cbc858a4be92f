import { signalName } from '../abi/signals.ts';
import { syscallName } from '../abi/syscalls.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { MemoryCounters } from '../memory/address-space.ts';
import type { Uprobes } from '../uprobes/index.ts';

/**
 * All counters of a machine in one flat list, named like the fields of JSON lines. Names are stable;
 * those that are 0 are there too.
 */
export const machineCounters = (
  kernel: Kernel,
  uprobes: Uprobes,
  memory: MemoryCounters,
): Readonly<Record<string, number>> => ({
  instructions: kernel.instructions(),
  ...prefixed('trap', Object.entries(snakeCase(kernel.counters.traps))),
  ...prefixed('syscall', named(kernel.counters.syscalls, syscallName)),
  ...prefixed('unknown_syscall', named(kernel.counters.unknownSyscalls, syscallName)),
  ...prefixed('signal', named(kernel.counters.signals, signalName)),
  ...snakeCase({
    contextSwitches: kernel.counters.contextSwitches,
    ...uprobes.counters,
    ...memory,
  }),
});

const snakeCase = (counters: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counters).map(([name, value]) => [
      name.replace(/-|(?=[A-Z])/g, '_').toLowerCase(),
      value,
    ]),
  );

type Entry = readonly [string, number];

const prefixed = (prefix: string, entries: readonly Entry[]): Record<string, number> =>
  Object.fromEntries(entries.map(([name, value]) => [`${prefix}.${name}`, value]));

const named = (
  counts: ReadonlyMap<number, number>,
  nameOf: (number: number) => string | undefined,
): readonly Entry[] =>
  [...counts]
    .sort(([a], [b]) => a - b)
    .map(([number, value]) => [nameOf(number) ?? String(number), value]);
