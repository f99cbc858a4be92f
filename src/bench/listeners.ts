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

export const LISTENERS = {
  entry,
  return: returns,
  'perf-count': perfCount,
  'perf-sample': perfSample,
} as const;
export type ListenerName = keyof typeof LISTENERS;
