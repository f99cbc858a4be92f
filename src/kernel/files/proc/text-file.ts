import type { ErrnoName } from '../../../abi/errno.ts';
import { ALWAYS_READY, type OpenFile } from '../open-file.ts';
import type { Attributes } from '../tree.ts';

/** A file whose bytes the kernel makes: anew whenever it is read from its start (seq_file). */
export const textFile = (
  path: string,
  attributes: Attributes,
  produce: () => Uint8Array,
): OpenFile => {
  let bytes: Uint8Array | null = null;
  return {
    path,
    seekable: true,
    attributes: () => attributes,
    read: (position, into) => {
      if (bytes === null || position === 0n) bytes = produce();
      if (position >= BigInt(bytes.length)) return 0;
      const part = bytes.subarray(Number(position), Number(position) + into.length);
      into.set(part);
      return part.length;
    },
    write: (): ErrnoName => 'EIO',
    readiness: () => ALWAYS_READY,
    size: () => 0n,
  };
};
