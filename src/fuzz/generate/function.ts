/** Generates whole functions. */
import { listingOf } from '../diagnose/listing.ts';
import type { Random } from '../random.ts';
import { Assembler, type Start } from './assembler.ts';
import { FLOW } from './flow.ts';
import { STRAIGHT } from './snippets.ts';

export interface Generated {
  readonly code: Uint8Array;
  /** Where its instructions begin. */
  readonly starts: readonly Start[];
  /** Where functions begin: its first byte, and what it calls. */
  readonly functions: readonly number[];
}

const SNIPPETS = [...STRAIGHT, ...FLOW];

/** A function of so many snippets; its code lies at page offset `at`. */
const attempt = (random: Random, at: number, snippets: number): Generated | null => {
  const asm = new Assembler();
  for (let left = snippets; left > 0; left--) random.weighted(SNIPPETS).add(asm, random, at);
  // What is still pushed would be returned to.
  while (asm.depth > 0 && !random.chance(3)) {
    asm.depth--;
    asm.emit('pop', 0x59);
  }
  asm.emit('ret', 0xc3);
  const code = asm.finish();
  if (code === null) return null;
  return { code, starts: asm.starts, functions: [0, ...asm.functionOffsets()] };
};

export const generateFunction = (random: Random, at: number): Generated => {
  for (;;) {
    const found = attempt(random, at, 2 + random.below(16));
    if (found !== null) return found;
  }
};

/** Random bytes with a return behind them. */
export const generateBytes = (random: Random): Generated => {
  const length = 1 + random.below(24);
  const code = Uint8Array.from({ length: length + 1 }, (_, i) =>
    i === length ? 0xc3 : random.below(256),
  );
  const starts = listingOf(code, 0n).map(({ offset, mnemonic: kind }) => ({ offset, kind }));
  return { code, starts, functions: [0] };
};
