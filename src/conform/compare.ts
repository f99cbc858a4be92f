/** A recorded state as facts: what is compared, by name. */
import { fromHex, hex } from '../base/bytes.ts';
import type { Facts } from './difference.ts';
import type { ExecCase, Recorded } from './exec-table.ts';

/** Neighbouring changes may be cut differently: one text for all of them, in address order. */
const memoryText = ({ mem }: Recorded): string => {
  const bytes = new Map<bigint, number>();
  for (const [address, data] of mem)
    for (const [i, byte] of (fromHex(data) ?? new Uint8Array(0)).entries())
      bytes.set(BigInt(address) + BigInt(i), byte);
  const addresses = [...bytes.keys()].sort((a, b) => (a < b ? -1 : 1));
  let text = '';
  for (const address of addresses) {
    if (!bytes.has(address - 1n)) text += `${text === '' ? '' : ' '}${hex(address)}:`;
    text += (bytes.get(address) ?? 0).toString(16).padStart(2, '0');
  }
  return text === '' ? 'unchanged' : text;
};

/** As many bytes of each vector register as were recorded. */
const vectorFacts = (state: Recorded, expected: Recorded): [string, string][] => {
  const kind = expected.ymm === undefined ? 'xmm' : 'ymm';
  const values = kind === 'ymm' ? state.ymm : (state.xmm ?? state.ymm?.map((v) => v.slice(0, 32)));
  const count = (expected.ymm ?? expected.xmm ?? []).length;
  return Array.from({ length: count }, (_, n) => [`${kind}${n}`, values?.[n] ?? 'nothing']);
};

const signalFacts = ({ signal }: Recorded, expected: Recorded): [string, string][] =>
  Object.entries(signal ?? {})
    .filter(([name]) => name !== 'addr' || expected.signal?.addr != null)
    .map(([name, value]) => [`signal.${name}`, String(value)]);

/** The register's name without the r of `rax`. */
const isMasked = ({ masked }: ExecCase, name: string): boolean =>
  masked.includes(name) || masked.includes(`r${name}`);

/**
 * @param state what is turned into facts: the recorded state, or ours
 * @param expected the recorded state: it says what is compared
 * @param undefinedFlags flags that the manual leaves undefined after the case's instructions
 */
export const factsOf = (
  test: ExecCase,
  state: Recorded,
  expected: Recorded,
  undefinedFlags: bigint,
): Facts => {
  const facts: [string, string][] = [
    ...Object.entries(state.regs).map(([name, value]): [string, string] => [
      name,
      hex(BigInt(value)),
    ]),
    ['flags', hex(BigInt(state.flags) & ~undefinedFlags)],
    ['end', state.signal === undefined ? (state.end ?? 'nothing') : 'signal'],
    ...vectorFacts(state, expected),
    ...signalFacts(state, expected),
    ['mem', memoryText(state)],
  ];
  if (expected.k1 !== undefined) facts.push(['k1', state.k1 ?? 'nothing']);
  if (expected.hits !== undefined) facts.push(['hits', String(state.hits ?? 0)]);
  return new Map(facts.filter(([name]) => !isMasked(test, name)));
};
