import { greatest, PAGE_MASK, PAGE_SIZE, pageDown, pageUp } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import type { AddressSpace, MapRequest } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';
import { SegmentFlag, SegmentType } from './format.ts';
import type { ElfImage } from './image.ts';
import { badElf } from './reader.ts';
import type { Segment } from './segments.ts';

/** Where an image went. */
export interface MappedImage {
  /** Added to every link-time address. */
  readonly bias: bigint;
  /** First address of the image's mapping. */
  readonly base: bigint;
  /** End of its last segment, bss included; not rounded. */
  readonly end: bigint;
}

/**
 * Maps the PT_LOAD segments as elf_load and load_elf_interp do.
 * @param at wanted address of the first page for a position-independent image; undefined = wherever
 *   mmap finds room for the whole image
 */
export const mapImage = (
  space: AddressSpace,
  image: ElfImage,
  file: Inode,
  at: bigint | undefined,
): MappedImage => {
  const loads = image.segments.filter(({ type }) => type === SegmentType.Load);
  const first = loads[0] as Segment;
  const last = loads.at(-1) as Segment;
  const low = pageDown(first.address);
  const bias = image.fixedAddress ? 0n : choosePlace(space, image, file, loads, at) - low;
  loads.forEach((load, i) => {
    mapSegment(space, image, file, load, bias, i === 0);
  });
  return { bias, base: low + bias, end: last.address + last.memorySize + bias };
};

/** Room for all segments at once, so that none of them meets another mapping. */
const choosePlace = (
  space: AddressSpace,
  image: ElfImage,
  file: Inode,
  loads: readonly Segment[],
  at: bigint | undefined,
): bigint => {
  const align = loads.map(alignmentOf).reduce(greatest, PAGE_SIZE);
  if (at !== undefined) return at & ~(align - 1n);
  const first = loads[0] as Segment;
  const last = loads.at(-1) as Segment;
  const size = pageUp(last.address + last.memorySize) - pageDown(first.address);
  const offset = first.offset - (first.address & PAGE_MASK);
  const place = space.findPlace({ size, file, offset });
  if (place === undefined) throw badElf(image.path, 'too large for the address space');
  return place & ~(align - 1n);
};

/** maximum_alignment skips alignments that are no power of two. */
const alignmentOf = ({ align }: Segment): bigint => ((align & (align - 1n)) === 0n ? align : 0n);

const mapSegment = (
  space: AddressSpace,
  image: ElfImage,
  file: Inode,
  load: Segment,
  bias: bigint,
  first: boolean,
): void => {
  const prot = protOf(load.flags);
  const start = pageDown(load.address) + bias;
  const fileEnd = load.address + load.fileSize + bias;
  const end = load.address + load.memorySize + bias;
  const placement = first ? 'only' : 'replace';
  const mapped = load.fileSize === 0n ? start : pageUp(fileEnd);
  if (load.fileSize > 0n) {
    const offset = load.offset - (load.address & PAGE_MASK);
    mapOrThrow(space, image, {
      address: start,
      placement,
      size: mapped - start,
      prot,
      file,
      offset,
    });
    // padzero: the rest of the last page belongs to the bss. Unwritable segments keep file bytes.
    if (end > fileEnd) space.write(fileEnd, new Uint8Array(Number(mapped - fileEnd)));
  }
  // A segment of no size at all maps nothing, wherever in its page it lies.
  if (load.memorySize > load.fileSize && pageUp(end) > mapped) {
    // vm_brk_flags: always readable and writable.
    const bss = Prot.Read | Prot.Write | (prot & Prot.Exec);
    mapOrThrow(space, image, {
      address: mapped,
      placement: 'replace',
      size: end - mapped,
      prot: bss,
    });
  }
};

const mapOrThrow = (space: AddressSpace, image: ElfImage, request: MapRequest): void => {
  const result = space.map(request);
  if (typeof result !== 'string') return;
  const where = `0x${(request.address ?? 0n).toString(16)}`;
  throw badElf(image.path, `its segment at ${where} cannot be mapped (${result})`);
};

const protOf = (flags: number): number =>
  ((flags & SegmentFlag.Read) !== 0 ? Prot.Read : 0) |
  ((flags & SegmentFlag.Write) !== 0 ? Prot.Write : 0) |
  ((flags & SegmentFlag.Exec) !== 0 ? Prot.Exec : 0);
