/** The notes of USDT probes, as <sys/sdt.h> writes them and libbpf reads them (spec section 6.6). */
import { hex, view } from '../../base/bytes.ts';
import { SegmentFlag } from '../../elf/format.ts';
import type { ElfImage } from '../../elf/image.ts';
import type { ElfNote } from '../../elf/notes.ts';
import { loadAt, type Segment } from '../../elf/segments.ts';

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
  /** What the note says, before any arithmetic. */
  readonly note: NoteAddresses;
}

/** The three addresses of a note. */
export interface NoteAddresses {
  readonly location: bigint;
  /** Where `.stapsdt.base` was when the note was written; prelink moves the section, not the note. */
  readonly base: bigint;
  readonly semaphore: bigint;
}

/** A note that cannot be used. */
export interface BrokenNote {
  /** `provider:name`, or null when the note does not tell. */
  readonly probe: string | null;
  readonly problem: string;
}

export interface UsdtNotes {
  readonly sites: readonly UsdtSite[];
  readonly broken: readonly BrokenNote[];
}

const SECTION = '.note.stapsdt';
export const BASE_SECTION = '.stapsdt.base';
const NOTE_NAME = 'stapsdt';
const NOTE_TYPE = 3;
const ADDRESSES_SIZE = 3 * 8;
/** Three addresses and the NULs of three strings. */
const SHORTEST = ADDRESSES_SIZE + 3;

const text = new TextDecoder('latin1');

/** All USDT probes of a file. A broken note is told of and never hides the others. */
export const usdtNotes = (image: ElfImage): UsdtNotes => {
  const sites: UsdtSite[] = [];
  const broken: BrokenNote[] = [];
  const base = baseSection(image);
  for (const note of image.notes()) {
    const isProbe = note.name === NOTE_NAME && note.type === NOTE_TYPE;
    if (!isProbe && note.section !== SECTION) continue;
    const read = isProbe ? siteOf(image, note.description, base) : foreign(note);
    if ('problem' in read) broken.push(read);
    else sites.push(read);
  }
  return { sites, broken };
};

/** Where `.stapsdt.base` is in the file as it is now; 0 = it has none. */
export const baseSection = (image: ElfImage): bigint =>
  image.sections.find(({ name }) => name === BASE_SECTION)?.address ?? 0n;

const foreign = ({ name, type }: ElfNote): BrokenNote => ({
  probe: null,
  problem: `a note called ${JSON.stringify(name)} of type ${type} is no probe`,
});

/** How far prelink has moved the file: only told where both sides know of the section. */
export const prelinkShift = (noteBase: bigint, sectionBase: bigint): bigint =>
  noteBase === 0n || sectionBase === 0n ? 0n : sectionBase - noteBase;

const siteOf = (image: ElfImage, bytes: Uint8Array, base: bigint): UsdtSite | BrokenNote => {
  if (bytes.length < SHORTEST)
    return { probe: null, problem: `a note of ${bytes.length} bytes; ${SHORTEST} are the least` };
  const names = stringsOf(bytes);
  if ('problem' in names) return names;
  const { provider, name, args } = names;
  const probe = `${provider}:${name}`;
  const fields = view(bytes);
  const note = {
    location: fields.getBigUint64(0, true),
    base: fields.getBigUint64(8, true),
    semaphore: fields.getBigUint64(16, true),
  };
  const address = BigInt.asUintN(64, note.location + prelinkShift(note.base, base));
  const code = loadAt(image.segments, address);
  if (code === undefined || !isExecutable(code))
    return { probe, problem: `its address ${hex(address)} lies in no executable segment` };
  const offset = image.offsetOfAddress(address);
  if (offset === undefined)
    return { probe, problem: `its address ${hex(address)} is not in the file` };
  // The semaphore is not moved along: that is how libbpf reads the note.
  const holder = note.semaphore === 0n ? null : loadAt(image.segments, note.semaphore);
  if (holder === undefined || (holder !== null && isExecutable(holder)))
    return { probe, problem: `its semaphore ${hex(note.semaphore)} lies in no data segment` };
  const semaphore = holder === null ? 0n : note.semaphore - holder.address + holder.offset;
  return { provider, name, address, offset, semaphore, args, note };
};

interface NoteStrings {
  readonly provider: string;
  readonly name: string;
  readonly args: string;
}

/** Three NUL-terminated strings; only provider and arguments may be empty. */
const stringsOf = (bytes: Uint8Array): NoteStrings | BrokenNote => {
  const [provider, name, args] = text
    .decode(bytes.subarray(ADDRESSES_SIZE))
    .split('\0')
    .slice(0, -1);
  if (provider === undefined) return { probe: null, problem: 'its provider does not end' };
  if (name === undefined) return { probe: null, problem: `its name does not end (${provider}:…)` };
  if (name === '') return { probe: null, problem: `it has no name (${provider}:)` };
  if (args === undefined)
    return { probe: `${provider}:${name}`, problem: 'its arguments do not end' };
  // A colon begins what other tools append: no arguments.
  return { provider, name, args: args.startsWith(':') ? '' : args };
};

const isExecutable = ({ flags }: Segment): boolean => (flags & SegmentFlag.Exec) !== 0;
