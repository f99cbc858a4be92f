import { view } from '../base/bytes.ts';

/** Types of the auxiliary vector (include/uapi/linux/auxvec.h). */
export const AuxType = {
  Null: 0,
  Phdr: 3,
  Phent: 4,
  Phnum: 5,
  Pagesz: 6,
  Base: 7,
  Flags: 8,
  Entry: 9,
  Uid: 11,
  Euid: 12,
  Gid: 13,
  Egid: 14,
  Platform: 15,
  Hwcap: 16,
  Clktck: 17,
  Secure: 23,
  Random: 25,
  Hwcap2: 26,
  RseqFeatureSize: 27,
  RseqAlign: 28,
  ExecFn: 31,
  Minsigstksz: 51,
} as const;

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
