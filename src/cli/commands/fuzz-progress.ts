/** How a campaign goes: one line on a terminal, now and then a line elsewhere. */
import type { Totals } from '../../fuzz/index.ts';
import { type Progress, progressOn } from '../progress.ts';

/** Milliseconds between two lines. */
const EVERY = { terminal: 200, file: 5000 } as const;

export const perSecond = ({ cases, elapsed }: Totals): number =>
  elapsed === 0 ? 0 : Math.round((cases * 1000) / elapsed);

export const lineOf = (totals: Totals): string => {
  const { cases, coverage, findings } = totals;
  return `${cases} cases, ${perSecond(totals)}/s, coverage ${coverage}, findings ${findings}`;
};

export const fuzzProgress = (stream: NodeJS.WriteStream): Progress<Totals> =>
  progressOn(stream, EVERY, lineOf);
