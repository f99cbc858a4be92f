/** How a campaign goes: one line on a terminal, now and then a line elsewhere. */
import type { Totals } from '../../fuzz/index.ts';

interface FuzzProgress {
  show(totals: Totals): void;
  /** Takes the line away before something else is printed. */
  clear(): void;
}

/** Milliseconds between two lines. */
const EVERY = { terminal: 200, file: 5000 } as const;

export const perSecond = ({ cases, elapsed }: Totals): number =>
  elapsed === 0 ? 0 : Math.round((cases * 1000) / elapsed);

export const lineOf = (totals: Totals): string => {
  const { cases, coverage, findings } = totals;
  return `${cases} cases, ${perSecond(totals)}/s, coverage ${coverage}, findings ${findings}`;
};

export const fuzzProgress = (stream: NodeJS.WriteStream): FuzzProgress => {
  const every = stream.isTTY ? EVERY.terminal : EVERY.file;
  let last = performance.now();
  let shown = false;
  return {
    show(totals) {
      const now = performance.now();
      if (now - last < every) return;
      last = now;
      stream.write(stream.isTTY ? `\r\x1b[K${lineOf(totals)}` : `trapline: ${lineOf(totals)}\n`);
      shown = stream.isTTY;
    },
    clear() {
      if (shown) stream.write('\r\x1b[K');
      shown = false;
    },
  };
};
