/** A table of where probes may be put, in the form of `accept-sweep.json`. */
import { fromHex } from '../base/bytes.ts';
import { explain, type Profile } from '../uprobes/index.ts';
import { type CaseResult, Comparison } from './difference.ts';
import type { Field } from './fields.ts';

export interface AcceptanceCase {
  readonly name: string;
  readonly bytes: string;
  /** `ok` or the errno's name. */
  readonly result: string;
  /** First byte at the site once the probe is registered; null where it was not looked at. */
  readonly byteAfter: string | null;
}

export const readAcceptanceCase = (field: Field): AcceptanceCase => ({
  name: field.at('name').text(),
  bytes: field.at('bytes').hex(),
  result: field.at('result').text(),
  byteAfter: field.at('byte_after').orNull((byte) => byte.hex(1)),
});

export const runAcceptanceCase = (
  { name, bytes, result, byteAfter }: AcceptanceCase,
  profile: Profile,
): CaseResult => {
  const comparison = new Comparison(name);
  const { errno } = explain(fromHex(bytes) ?? new Uint8Array(0), profile);
  const expected = new Map([['result', result]]);
  const got = new Map([['result', errno ?? 'ok']]);
  if (byteAfter !== null) {
    expected.set('byte_after', byteAfter);
    got.set('byte_after', errno === null ? 'cc' : bytes.slice(0, 2));
  }
  comparison.compare('registration', expected, got);
  return comparison.result();
};
