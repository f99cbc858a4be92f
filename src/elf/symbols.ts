import { dynamicSymbolTable } from './dynamic.ts';
import { SectionType, SYMBOL_SIZE } from './format.ts';
import type { ElfReader } from './reader.ts';
import type { Section } from './sections.ts';
import type { Segment } from './segments.ts';
import { type ElfSymbol, readTable } from './symbol-table.ts';

/**
 * Defined symbols: .symtab, then .dynsym; by way of the dynamic section where section headers are
 * missing. Tables that do not lie inside the file are left out: the program runs without them.
 */
export const readSymbols = (
  reader: ElfReader,
  sections: readonly Section[],
  segments: readonly Segment[],
): ElfSymbol[] => {
  if (sections.length === 0) {
    const table = dynamicSymbolTable(reader, segments);
    return table === undefined ? [] : readTable(reader, table);
  }
  return [SectionType.SymTab, SectionType.DynSym].flatMap((type) =>
    readSectionTable(reader, sections, type),
  );
};

const readSectionTable = (
  reader: ElfReader,
  sections: readonly Section[],
  type: number,
): ElfSymbol[] => {
  const index = sections.findIndex((section) => section.type === type);
  const table = sections[index];
  const strings = table && sections[table.link];
  if (table === undefined || strings === undefined) return [];
  const versions = sections.find(
    (section) => section.type === SectionType.GnuVersym && section.link === index,
  );
  return readTable(reader, {
    symbols: Number(table.offset),
    count: Math.floor(Number(table.size) / SYMBOL_SIZE),
    strings: Number(strings.offset),
    stringsSize: Number(strings.size),
    versions: versions && Number(versions.offset),
  });
};
