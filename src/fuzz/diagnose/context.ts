/** What a diagnosis may look at and try. */
import { fromHex } from '../../base/bytes.ts';
import { type Explanation, explain, findProfile } from '../../uprobes/index.ts';
import { decodeInsn, type Insn } from '../../x86/insn.ts';
import type { FuzzCase } from '../case.ts';
import { TEXT } from '../guest/layout.ts';
import type { Different, Verdict } from '../run/verdict.ts';
import { type Line, listingOf } from './listing.ts';

export interface Context {
  readonly test: FuzzCase;
  readonly verdict: Different;
  readonly lines: readonly Line[];
  /** Offset of the site, and the instruction as the kernel reads it there. */
  readonly site: number;
  readonly insn: Insn;
  /** What the profile makes of it. */
  readonly explanation: Explanation;
  /** The line that holds the site. */
  readonly line: Line;
  /** Runs a variant of the case. */
  readonly run: (variant: FuzzCase) => Verdict;
}

export const contextOf = (
  test: FuzzCase,
  verdict: Different,
  run: Context['run'],
): Context | null => {
  const code = fromHex(test.code) ?? new Uint8Array();
  const lines = listingOf(code, TEXT.start + BigInt(test.at));
  const site = test.probes[0]?.site ?? 0;
  const line = lines.find(({ offset, bytes }) => offset + bytes.length > site);
  const bytes = new Uint8Array(16).fill(0xcc);
  bytes.set(code.subarray(site, site + 16));
  const insn = decodeInsn(bytes);
  if (line === undefined || insn === null) return null;
  const explanation = explain(bytes, findProfile(test.profile)!);
  return { test, verdict, lines, site, insn, explanation, line, run };
};

/** The case with its only probe elsewhere. */
export const withSite = (test: FuzzCase, site: number): FuzzCase => ({
  ...test,
  probes: test.probes.map((probe) => ({ ...probe, site })),
});

/** The case with other bytes in its code. */
export const withBytes = (test: FuzzCase, at: number, bytes: readonly number[]): FuzzCase => {
  const code = fromHex(test.code) ?? new Uint8Array();
  code.set(bytes, at);
  return { ...test, code: Buffer.from(code).toString('hex') };
};
