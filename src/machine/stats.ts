import { signalName } from '../abi/signals.ts';
import { syscallName } from '../abi/syscalls.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Uprobes } from '../uprobes/index.ts';

/** All counters of a machine in one flat list; names are stable, those that are 0 are there too. */
export const machineCounters = (
  kernel: Kernel,
  uprobes: Uprobes,
): Readonly<Record<string, number>> => ({
  instructions: kernel.instructions(),
  ...prefixed('trap', Object.entries(kernel.counters.traps)),
  ...prefixed('syscall', named(kernel.counters.syscalls, syscallName)),
  ...prefixed('unknown-syscall', named(kernel.counters.unknownSyscalls, syscallName)),
  ...prefixed('signal', named(kernel.counters.signals, signalName)),
  contextSwitches: kernel.counters.contextSwitches,
  ...uprobes.counters,
  ...memoryCounters(kernel),
});

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

const memoryCounters = (kernel: Kernel): Record<string, number> => {
  const sums = { pagesPopulated: 0, pagesCopied: 0, faults: 0 };
  for (const { space } of kernel.mms()) {
    sums.pagesPopulated += space.counters.pagesPopulated;
    sums.pagesCopied += space.counters.pagesCopied;
    sums.faults += space.counters.faults;
  }
  return sums;
};
