import { SECTION_HEADER_SIZE, SectionType, SYMBOL_SIZE, SymbolType } from './format.ts';
import type { ElfHeader } from './header.ts';
import type { ElfReader } from './reader.ts';

export interface ElfSymbol {
  readonly name: string;
  /** Link-time address. */
  readonly address: bigint;
  readonly size: bigint;
  /** One of `SymbolType`. */
  readonly type: number;
}

interface Section {
  readonly type: number;
  readonly offset: bigint;
  readonly size: bigint;
  readonly link: number;
}

/** Defined symbols of .symtab and .dynsym. Tables that do not fit into the file are left out. */
export const readSectionSymbols = (reader: ElfReader, header: ElfHeader): ElfSymbol[] => {
  const sections = readSections(reader, header);
  return sections
    .filter(({ type }) => type === SectionType.SymTab || type === SectionType.DynSym)
    .flatMap((table) => {
      const strings = sections[table.link];
      if (strings === undefined || !fits(reader, table) || !fits(reader, strings)) return [];
      return readTable(
        reader,
        Number(table.offset),
        Number(table.size) / SYMBOL_SIZE,
        Number(strings.offset),
        Number(strings.size),
      );
    });
};

/** Reads `count` entries of a symbol table. Preconditions: table and strings lie inside the file. */
export const readTable = (
  reader: ElfReader,
  table: number,
  count: number,
  strings: number,
  stringsSize: number,
): ElfSymbol[] => {
  const symbols: ElfSymbol[] = [];
  for (let i = 1; i < Math.floor(count); i++) {
    const at = table + i * SYMBOL_SIZE;
    const nameAt = reader.u32(at);
    const type = (reader.bytes[at + 4] as number) & 15;
    const defined = reader.u16(at + 6) !== 0;
    if (!defined || nameAt === 0 || nameAt >= stringsSize) continue;
    if (type === SymbolType.Section || type === SymbolType.File) continue;
    symbols.push({
      name: reader.string(strings + nameAt, strings + stringsSize),
      address: reader.u64(at + 8),
      size: reader.u64(at + 16),
      type,
    });
  }
  return symbols;
};

const readSections = (reader: ElfReader, { sectionHeaders }: ElfHeader): Section[] =>
  Array.from({ length: sectionHeaders.count }, (_, i) => {
    const at = Number(sectionHeaders.offset) + i * SECTION_HEADER_SIZE;
    return {
      type: reader.u32(at + 4),
      offset: reader.u64(at + 24),
      size: reader.u64(at + 32),
      link: reader.u32(at + 40),
    };
  });

const fits = (reader: ElfReader, { offset, size }: Section): boolean => {
  const length = BigInt(reader.bytes.length);
  return size <= length && offset <= length - size;
};
