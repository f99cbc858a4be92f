/** Runs recorded cases and lists where we differ from the kernel that made them. */
import type { EngineFactory } from '../../../src/cpu/engine.ts';
import { HandlerResult, type Profile } from '../../../src/uprobes/index.ts';
import { Guest, type Outcome } from './guest.ts';
import { TEXT } from './regions.ts';
import type { ExecCase, ExecTable, Recorded, Variant } from './table.ts';

export interface Difference {
  readonly name: string;
  readonly variant: Variant;
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

export interface Conformance {
  /** Runs that agree. */
  agreed: number;
  readonly differences: Difference[];
  /** Runs the engine could not do, with the instruction. */
  readonly notRun: { readonly name: string; readonly variant: Variant; readonly reason: string }[];
}

/** Vector registers as far as both sides have them. */
const xmm = ({ ymm, xmm: low }: Recorded): readonly string[] =>
  low ?? ymm?.map((value) => value.slice(0, 32)) ?? [];

/** Neighbouring changes may be cut differently: compared byte by byte. */
const memoryText = ({ mem }: Recorded): string => {
  const bytes = mem.flatMap(([address, data]) =>
    Array.from(Buffer.from(data, 'hex'), (byte, i) => [Number(address) + i, byte] as const),
  );
  return bytes
    .sort(([a], [b]) => a - b)
    .map(([address, byte]) => `${address.toString(16)}:${byte.toString(16)}`)
    .join(' ');
};

const facts = (state: Recorded, test: ExecCase, expected: Recorded): Map<string, string> => {
  const result = new Map<string, string>();
  for (const [name, value] of Object.entries(state.regs))
    if (!test.masked.includes(`r${name}`) && !test.masked.includes(name)) result.set(name, value);
  result.set('flags', state.flags);
  result.set('end', String(state.end));
  result.set('xmm', xmm(state).join(' '));
  result.set('mem', memoryText(state));
  const { signal } = state;
  if (signal !== undefined)
    for (const [name, value] of Object.entries(signal))
      if (name !== 'addr' || expected.signal?.addr != null)
        result.set(`signal.${name}`, String(value));
  if (expected.hits !== undefined) result.set('hits', String(state.hits));
  return result;
};

const compare = (
  test: ExecCase,
  variant: Variant,
  expected: Recorded,
  got: Recorded,
  into: Conformance,
): boolean => {
  const want = facts(expected, test, expected);
  const have = facts(got, test, expected);
  const names = new Set([...want.keys(), ...have.keys()]);
  const before = into.differences.length;
  for (const what of names) {
    if (want.get(what) === have.get(what)) continue;
    into.differences.push({
      name: test.name,
      variant,
      what,
      expected: want.get(what) ?? 'nothing',
      got: have.get(what) ?? 'nothing',
    });
  }
  if (into.differences.length !== before) return false;
  into.agreed++;
  return true;
};

const RUNS: Readonly<Record<Variant, number>> = { plain: 1, probed: 1, probed_x3: 3 };

/** One variant of one case; null when the probe is refused as recorded. */
const runVariant = (guest: Guest, test: ExecCase, variant: Variant): Outcome | string => {
  if (variant === 'plain') return guest.run(test);
  let hits = 0;
  const handle = guest.uprobes.register(guest.text, BigInt(test.site) - BigInt(TEXT.start), {
    entry: () => {
      hits++;
      return HandlerResult.Continue;
    },
  });
  if (typeof handle === 'string') return handle;
  try {
    let outcome: Outcome | undefined;
    for (let run = 0; run < RUNS[variant]; run++) {
      outcome = guest.run(test);
      if ('unsupported' in outcome) return outcome;
    }
    return { ...(outcome as Recorded), hits };
  } finally {
    guest.uprobes.unregister(handle);
  }
};

export interface ConformOptions {
  readonly factory: EngineFactory;
  readonly profile: Profile;
  readonly variants?: readonly Variant[];
}

export const conform = (
  table: ExecTable,
  { factory, profile, variants = ['plain', 'probed', 'probed_x3'] }: ConformOptions,
): Conformance => {
  const result: Conformance = { agreed: 0, differences: [], notRun: [] };
  let guest = new Guest(table, factory, profile);
  const renew = (): void => {
    guest.dispose();
    guest = new Guest(table, factory, profile);
  };
  for (const test of table.cases)
    for (const variant of variants) {
      const expected = test[variant];
      if (expected === null || (variant !== 'plain' && test.errno !== 'ok')) continue;
      const { name } = test;
      let got: Outcome | string;
      try {
        got = runVariant(guest, test, variant);
      } catch (error) {
        got = String(error);
        renew();
      }
      if (typeof got === 'string')
        result.differences.push({ name, variant, what: 'run', expected: 'ok', got });
      else if ('unsupported' in got) {
        result.notRun.push({ name, variant, reason: got.unsupported });
        // The task stands still in mid-instruction, perhaps in mid-step.
        renew();
      } else if (!compare(test, variant, expected, got, result)) {
        // What went wrong may have left something behind that no reset reaches (segments, say).
        renew();
      }
    }
  guest.dispose();
  return result;
};
