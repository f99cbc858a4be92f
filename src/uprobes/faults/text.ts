/** Mistakes in writing program text. */
import type { Inode } from '../../memory/backing.ts';
import { offsetOfAddress } from '../../memory/vma.ts';
import type { Faults } from './fault.ts';

/** Puts bytes over a file as if its page cache had been written; a function takes them off again. */
const overlay = (file: Inode, written: ReadonlyMap<bigint, number>): (() => void) => {
  const original = file.read;
  const read: Inode['read'] = (offset, into) => {
    const count = original.call(file, offset, into);
    for (const [at, byte] of written)
      if (at >= offset && at < offset + BigInt(count)) into[Number(at - offset)] = byte;
    return count;
  };
  Object.assign(file, { read });
  return () => Object.assign(file, { read: original });
};

export const TEXT_FAULTS: Faults = {
  'breakpoint-in-file': {
    about: 'breakpoints are written to the file’s pages: whoever reads the file sees them',
    plant: ({ storeText }, whenUndone) => {
      const files = new Map<Inode, Map<bigint, number>>();
      return {
        storeText(state, address, bytes) {
          const error = storeText(state, address, bytes);
          const vma = state.mm.space.find(address);
          if (error !== null || vma === undefined || vma.file === null) return error;
          const written = files.get(vma.file) ?? new Map<bigint, number>();
          if (!files.has(vma.file)) whenUndone(overlay(vma.file, written));
          files.set(vma.file, written);
          for (const [index, byte] of bytes.entries())
            written.set(offsetOfAddress(vma, address) + BigInt(index), byte);
          return null;
        },
      };
    },
  },
};
