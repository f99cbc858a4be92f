/** Where a table's process has its text, and where its own places lie that no recorded case looks at. */
import { greatest, least, PAGE_SIZE, pageDown } from '../base/bytes.ts';
import type { ExecCase, ExecTable } from './exec-table.ts';

/** A CC there ends a run that came to a signal. */
export const HANDLER = 0x7d00_0000_0000n;
/** The handlers' stack. Its beginning also serves as thread-local storage: readable is all that counts. */
export const SIGNAL_STACK = { start: 0x7d00_0001_0000n, size: 0x4000n } as const;

export interface TextRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** Linkers put static programs at the beginning of a mebibyte (0x400000), headers before text. */
const PROGRAM_ALIGN = 0x10_0000n;

const endOf = ({ entry, code }: ExecCase): bigint => BigInt(entry) + BigInt(code.length / 2);

/**
 * The program's text: one mapping from its headers to the first region behind it, as its file had
 * it. What surrounds it decides where an optimised site's trampoline finds room.
 */
export const textRange = ({ cap0, cap1, cases, regions }: ExecTable): TextRange => {
  const caps = [BigInt(cap0), BigInt(cap1)];
  const lowest = [...caps, ...cases.map(({ entry }) => BigInt(entry))].reduce(least);
  const start = lowest - (lowest % PROGRAM_ALIGN);
  const codeEnd = pageDown([...caps, ...cases.map(endOf)].reduce(greatest) + PAGE_SIZE);
  const behind = regions.map(({ address }) => address).filter((address) => address >= codeEnd);
  const next = behind.length === 0 ? codeEnd : behind.reduce(least);
  return { start, end: next - codeEnd < PROGRAM_ALIGN ? next : codeEnd };
};
