/** The arithmetic from a name to a file offset, line by line: `trapline explain --explain-offset`. */
import { hex } from '../base/bytes.ts';
import { BASE_SECTION, baseSection, prelinkShift, type UsdtSite } from '../consumers/usdt/notes.ts';
import { SegmentFlag } from '../elf/format.ts';
import type { ElfFunction } from '../elf/functions.ts';
import type { ElfImage } from '../elf/image.ts';
import { loadAt, type Segment } from '../elf/segments.ts';

/** One step: what it is about, and the sum. */
export interface Step {
  readonly about: string;
  readonly text: string;
}

const NOUNS = { function: 'a function', ifunc: 'an IFUNC', label: 'a label without type' } as const;

/** From a symbol, and what is added to it. */
export const symbolSteps = (image: ElfImage, found: ElfFunction, addend: bigint): Step[] => {
  const { name, kind, version, size, address, offset } = found;
  const versioned = version === null ? '' : ` of version ${version}`;
  return [
    {
      about: 'symbol',
      text: `${name} is ${NOUNS[kind]}${versioned} at address ${hex(address)}, ${size} bytes long`,
    },
    ...addressSteps(image, address, 'offset'),
    ...(addend === 0n
      ? []
      : [{ about: 'addend', text: `${hex(offset)} + ${hex(addend)} = ${hex(offset + addend)}` }]),
  ];
};

/** From a USDT note. */
export const usdtSteps = (image: ElfImage, { note, address }: UsdtSite): Step[] => {
  const { location, base, semaphore } = note;
  const section = baseSection(image);
  const moved = prelinkShift(base, section);
  return [
    {
      about: 'note',
      text: `location ${hex(location)}, ${BASE_SECTION} ${hex(base)}, semaphore ${hex(semaphore)}`,
    },
    {
      about: 'prelink',
      text:
        base === 0n || section === 0n
          ? `not adjusted: ${section === 0n ? `the file has no ${BASE_SECTION}` : 'the note has no base'}`
          : `${hex(location)} + (${hex(section)} - ${hex(base)}) = ${hex(address)}${moved === 0n ? ', not moved' : ''}`,
    },
    ...addressSteps(image, address, 'offset'),
    ...(semaphore === 0n ? [] : addressSteps(image, semaphore, 'semaphore')),
  ];
};

/** From an offset that was given as such. */
export const offsetSteps = (image: ElfImage, offset: bigint, address: bigint | null): Step[] => {
  const segment = address === null ? undefined : loadAt(image.segments, address);
  if (address === null || segment === undefined)
    return [{ about: 'offset', text: `${hex(offset)} as given; no segment maps it` }];
  return [
    { about: 'offset', text: `${hex(offset)} as given` },
    segmentStep(segment),
    {
      about: 'address',
      text: `${hex(offset)} - ${hex(segment.offset)} + ${hex(segment.address)} = ${hex(address)}`,
    },
  ];
};

/** By segments, which is how the file is mapped; sections may lie or be missing. */
const addressSteps = (image: ElfImage, address: bigint, about: string): Step[] => {
  const segment = loadAt(image.segments, address);
  if (segment === undefined) return [];
  const { address: start, offset } = segment;
  return [
    segmentStep(segment),
    {
      about,
      text: `${hex(address)} - ${hex(start)} + ${hex(offset)} = ${hex(address - start + offset)}`,
    },
  ];
};

const segmentStep = ({ address, memorySize, offset, flags }: Segment): Step => {
  const rights = [
    flags & SegmentFlag.Read ? 'r' : '-',
    flags & SegmentFlag.Write ? 'w' : '-',
    flags & SegmentFlag.Exec ? 'x' : '-',
  ].join('');
  return {
    about: 'segment',
    text: `${hex(address)}-${hex(address + memorySize)} ${rights} comes from file offset ${hex(offset)}`,
  };
};
