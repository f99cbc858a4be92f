/** Where names lead inside one ELF file; `locate.ts` finds the files. */
import type { ErrnoName } from '../abi/errno.ts';
import { hex } from '../base/bytes.ts';
import { type UsdtSite, usdtNotes } from '../consumers/usdt/notes.ts';
import type { ElfFunction } from '../elf/functions.ts';
import type { ElfImage } from '../elf/image.ts';

/** Why a name leads nowhere, for the caller's message. */
export interface NoPlace {
  readonly reason: string;
  readonly errno: ErrnoName;
}

export const isNoPlace = (found: object): found is NoPlace => 'reason' in found;

/** The one function, or label, of a name. */
export const findSymbol = (image: ElfImage, name: string): ElfFunction | NoPlace => {
  const [found, ...others] = image.functionsNamed(name);
  if (found === undefined) return { reason: `has no function ${name}`, errno: 'ENOENT' };
  if (others.length === 0) return found;
  const offsets = [found, ...others].map(({ offset }) => hex(offset)).join(', ');
  return {
    reason: `has ${others.length + 1} functions called ${name}, at offsets ${offsets}: name one by its offset`,
    errno: 'ESRCH',
  };
};

/** Every site of a USDT probe, in the order of their notes. */
export const findUsdt = (
  image: ElfImage,
  provider: string,
  name: string,
): readonly UsdtSite[] | NoPlace => {
  const { sites, broken } = usdtNotes(image);
  const probe = `${provider}:${name}`;
  const useless = broken.find((note) => note.probe === probe);
  // A tool that attached to the others only would count wrong without a word.
  if (useless !== undefined)
    return {
      reason: `has a USDT probe ${probe} that cannot be used: ${useless.problem}`,
      errno: 'ESRCH',
    };
  const found = sites.filter((site) => site.provider === provider && site.name === name);
  return found.length > 0 ? found : { reason: `has no USDT probe ${probe}`, errno: 'ENOENT' };
};
