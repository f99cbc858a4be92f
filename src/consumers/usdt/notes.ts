import { view } from '../../base/bytes.ts';
import type { ElfImage } from '../../elf/image.ts';

/** One place of a USDT probe. Inlined copies of a probe are several sites of one name. */
export interface UsdtSite {
  readonly provider: string;
  readonly name: string;
  /** Link-time address of the nop, adjusted for prelink. */
  readonly address: bigint;
  /** File offset of the nop. */
  readonly offset: bigint;
  /** File offset of the semaphore; 0 = none. */
  readonly semaphore: bigint;
  /** The argument descriptions as written, `-4@%edi 8@(%rsi)`. */
  readonly args: string;
}

const NOTE_NAME = 'stapsdt';
const NOTE_TYPE = 3;
/** Three addresses, and three strings of which only the arguments may be empty. */
const SHORTEST = 3 * 8 + 3;

const text = new TextDecoder('latin1');

/** The NUL-terminated strings of a note; fewer than three when one does not end. */
const stringsOf = (bytes: Uint8Array): readonly string[] =>
  text.decode(bytes).split('\0').slice(0, -1);

/**
 * Sites of `.note.stapsdt` (spec section 6.6). A broken note is left out and never hides the others.
 * Throws `bad-elf` when the note section itself cannot be walked.
 */
export const usdtSites = (image: ElfImage): readonly UsdtSite[] => {
  const base = image.sections.find(({ name }) => name === '.stapsdt.base');
  return image
    .notes()
    .filter(({ name, type }) => name === NOTE_NAME && type === NOTE_TYPE)
    .flatMap(({ description }) => siteOf(image, description, base?.address));
};

const siteOf = (
  image: ElfImage,
  description: Uint8Array,
  base: bigint | undefined,
): readonly UsdtSite[] => {
  if (description.length < SHORTEST) return [];
  const fields = view(description);
  const [provider = '', name = '', args] = stringsOf(description.subarray(24));
  if (provider === '' || name === '' || args === undefined) return [];
  const shift = base === undefined ? 0n : base - fields.getBigUint64(8, true);
  const address = BigInt.asUintN(64, fields.getBigUint64(0, true) + shift);
  const offset = image.offsetOfAddress(address);
  const semaphoreAt = fields.getBigUint64(16, true);
  const semaphore = semaphoreAt === 0n ? 0n : image.offsetOfAddress(semaphoreAt);
  if (offset === undefined || semaphore === undefined) return [];
  return [{ provider, name, address, offset, semaphore, args: args.startsWith(':') ? '' : args }];
};
