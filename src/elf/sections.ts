import { SECTION_HEADER_SIZE, SHN_XINDEX } from './format.ts';
import type { ElfHeader } from './header.ts';
import type { ElfReader, Report } from './reader.ts';

/** What we use of Elf64_Shdr. */
export interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: bigint;
  readonly address: bigint;
  readonly offset: bigint;
  readonly size: bigint;
  /** Index of the string table that belongs to a symbol table. */
  readonly link: number;
  readonly align: bigint;
}

/**
 * The section headers; none when the file has no usable ones. Broken ones are no reason to refuse a
 * program: the kernel never reads them.
 */
export const readSections = (
  reader: ElfReader,
  { sectionHeaders }: ElfHeader,
  report: Report,
): Section[] => {
  const { offset, entrySize } = sectionHeaders;
  if (offset === 0n) return [];
  if (entrySize !== SECTION_HEADER_SIZE) {
    if (sectionHeaders.count > 0) report(`section headers of ${entrySize} bytes instead of 64`);
    return [];
  }
  const at = (index: number): number => Number(offset) + index * SECTION_HEADER_SIZE;
  if (!reader.has(offset, BigInt(SECTION_HEADER_SIZE))) {
    report('its section headers lie outside the file');
    return [];
  }
  // Numbers that do not fit into the file header are in section 0.
  const count = sectionHeaders.count === 0 ? Number(reader.u64(at(0) + 32)) : sectionHeaders.count;
  const names = sectionHeaders.names === SHN_XINDEX ? reader.u32(at(0) + 40) : sectionHeaders.names;
  if (!reader.has(offset, BigInt(count) * BigInt(SECTION_HEADER_SIZE))) {
    report('its section headers lie outside the file');
    return [];
  }
  const nameOf = sectionNames(reader, count, names < count ? at(names) : undefined, report);
  return Array.from({ length: count }, (_, i) => ({
    name: nameOf(reader.u32(at(i))),
    type: reader.u32(at(i) + 4),
    flags: reader.u64(at(i) + 8),
    address: reader.u64(at(i) + 16),
    offset: reader.u64(at(i) + 24),
    size: reader.u64(at(i) + 32),
    link: reader.u32(at(i) + 40),
    align: reader.u64(at(i) + 48),
  }));
};

/** `header` = where the header of the section with the names lies. */
const sectionNames = (
  reader: ElfReader,
  count: number,
  header: number | undefined,
  report: Report,
): ((name: number) => string) => {
  const start = header === undefined ? 0n : reader.u64(header + 24);
  const size = header === undefined ? 0n : reader.u64(header + 32);
  if (header === undefined || !reader.has(start, size)) {
    if (count > 0) report('the names of its sections lie outside the file');
    return () => '';
  }
  const end = Number(start + size);
  return (name) => (Number(start) + name < end ? reader.string(Number(start) + name, end) : '');
};
