/** Ways to listen to a probe whose hits are measured. */
import { HandlerResult, type Machine } from '../index.ts';

/** Attaches at a site; what it returns tells how many hits came. */
export type Listen = (machine: Machine, site: string) => () => number;

const entry: Listen = (machine, site) => {
  let hits = 0;
  machine.uprobe(site, {
    entry: () => {
      hits++;
      return HandlerResult.Continue;
    },
  });
  return () => hits;
};

const returns: Listen = (machine, site) => {
  let hits = 0;
  machine.uprobe(site, {
    return: () => {
      hits++;
      return undefined;
    },
  });
  return () => hits;
};

const perfCount: Listen = (machine, site) => {
  const link = machine.perf.open(`p ${site}`);
  return () => link.read().count;
};

const perfSample: Listen = (machine, site) => {
  let samples = 0;
  machine.perf.open(`p ${site}`, {
    onSample: () => {
      samples++;
    },
  });
  return () => samples;
};

/** Registers, stack, memory and a string: eight arguments. */
const EIGHT = '%di %si:u32 %ax:s64 $stack $stack1 +0(%sp) +8(%sp):s16 $comm';

/** Records go to the ring buffer, as when nobody reads yet. */
const tracefs: Listen = (machine, site) => {
  machine.tracefs.define(`p:bench/hit ${site} ${EIGHT}`);
  return () => machine.tracefs.profile()[0]?.hits ?? 0;
};

export const LISTENERS = {
  entry,
  return: returns,
  'perf-count': perfCount,
  'perf-sample': perfSample,
  tracefs,
} as const;
export type ListenerName = keyof typeof LISTENERS;
