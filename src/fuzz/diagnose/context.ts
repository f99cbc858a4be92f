/** What a diagnosis may look at and try. */
import { fromHex, toHex } from '../../base/bytes.ts';
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
  /** The instruction that ran and holds the site. */
  readonly line: Line;
  /** Runs a variant of the case. */
  readonly run: (variant: FuzzCase) => Verdict;
}

/** For each probe of a case. */
export const contextsOf = (test: FuzzCase, verdict: Different, run: Context['run']): Context[] =>
  [...new Set(test.probes.map(({ site }) => site))]
    .map((site) => contextOf(test, site, verdict, run))
    .filter((context) => context !== null);

/** The instruction from one of these offsets on that holds the site; one that begins before it, if there is one. */
const lineAt = (code: Uint8Array, offsets: readonly number[], site: number): Line | null => {
  const holding = offsets
    .filter((offset) => offset >= 0 && offset <= site && offset < code.length)
    .map((offset) => {
      const [line] = listingOf(code.slice(offset, offset + 15), TEXT.start);
      return line === undefined ? null : { ...line, offset };
    })
    .filter((line) => line !== null && line.offset + line.bytes.length > site);
  return holding.find((line) => line?.offset !== site) ?? holding[0] ?? null;
};

const contextOf = (
  test: FuzzCase,
  site: number,
  verdict: Different,
  run: Context['run'],
): Context | null => {
  const code = fromHex(test.code) ?? new Uint8Array();
  const lines = listingOf(code, TEXT.start + BigInt(test.at));
  const start = TEXT.start + BigInt(test.at);
  const ran = [...verdict.executed].map((address) => Number(address - start));
  const line =
    lineAt(code, ran, site) ??
    lineAt(
      code,
      lines.map(({ offset }) => offset),
      site,
    );
  const bytes = new Uint8Array(16).fill(0xcc);
  bytes.set(code.subarray(site, site + 16));
  const insn = decodeInsn(bytes);
  if (line === null || insn === null) return null;
  const explanation = explain(bytes, findProfile(test.profile)!);
  return { test, verdict, lines, site, insn, explanation, line, run };
};

/** The case with a probe elsewhere. */
export const withSite = (test: FuzzCase, from: number, to: number): FuzzCase => ({
  ...test,
  probes: test.probes.map((probe) => (probe.site === from ? { ...probe, site: to } : probe)),
});

/** The case with other bytes in its code. */
export const withBytes = (test: FuzzCase, at: number, bytes: readonly number[]): FuzzCase => {
  const code = fromHex(test.code) ?? new Uint8Array();
  code.set(bytes, at);
  return { ...test, code: toHex(code) };
};
