import { SECTION_HEADER_SIZE } from './format.ts';
import type { ElfHeader } from './header.ts';
import type { ElfReader } from './reader.ts';

/** What we use of Elf64_Shdr. */
export interface Section {
  readonly name: string;
  readonly type: number;
  readonly address: bigint;
  readonly offset: bigint;
  readonly size: bigint;
  /** Index of the string table that belongs to a symbol table. */
  readonly link: number;
  readonly align: bigint;
}

/** The section headers; none when the file has no usable ones. */
export const readSections = (reader: ElfReader, { sectionHeaders }: ElfHeader): Section[] => {
  const at = (index: number): number => Number(sectionHeaders.offset) + index * SECTION_HEADER_SIZE;
  const names = sectionHeaders.names < sectionHeaders.count ? at(sectionHeaders.names) : undefined;
  const namesOffset = names === undefined ? 0n : reader.u64(names + 24);
  const nameOf = (index: number): string => {
    const from = namesOffset + BigInt(reader.u32(at(index)));
    return namesOffset === 0n || from >= BigInt(reader.bytes.length)
      ? ''
      : reader.string(Number(from));
  };
  return Array.from({ length: sectionHeaders.count }, (_, i) => ({
    name: nameOf(i),
    type: reader.u32(at(i) + 4),
    address: reader.u64(at(i) + 16),
    offset: reader.u64(at(i) + 24),
    size: reader.u64(at(i) + 32),
    link: reader.u32(at(i) + 40),
    align: reader.u64(at(i) + 48),
  }));
};
