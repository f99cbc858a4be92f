import { view } from '../base/bytes.ts';

/** Type (`At`) and value. */
export type AuxEntry = readonly [type: number, value: bigint];

/** The vector as bytes, AT_NULL included. */
export const auxvBytes = (entries: readonly AuxEntry[]): Uint8Array => {
  const bytes = new Uint8Array(16 * (entries.length + 1));
  const words = view(bytes);
  entries.forEach(([type, value], i) => {
    words.setBigUint64(16 * i, BigInt(type), true);
    words.setBigUint64(16 * i + 8, value, true);
  });
  return bytes;
};
