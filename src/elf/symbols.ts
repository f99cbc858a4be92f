import { dynamicSymbolTable } from './dynamic.ts';
import { SectionType, SYMBOL_SIZE } from './format.ts';
import type { ElfReader, Report } from './reader.ts';
import type { Section } from './sections.ts';
import type { Segment } from './segments.ts';
import { type ElfSymbol, readTable } from './symbol-table.ts';
import { readVersions } from './versions.ts';

/**
 * Defined symbols: .symtab, then .dynsym; by way of the dynamic section where section headers are
 * missing. Tables that do not lie inside the file are left out: the program runs without them.
 */
export const readSymbols = (
  reader: ElfReader,
  sections: readonly Section[],
  segments: readonly Segment[],
  report: Report,
): ElfSymbol[] => {
  if (sections.length === 0) {
    const table = dynamicSymbolTable(reader, segments);
    return table === undefined ? [] : readTable(reader, table, report);
  }
  return [SectionType.SymTab, SectionType.DynSym].flatMap((type) =>
    readSectionTable(reader, sections, type, report),
  );
};

const NO_VERSIONS: ReadonlyMap<number, string> = new Map();

const readSectionTable = (
  reader: ElfReader,
  sections: readonly Section[],
  type: number,
  report: Report,
): ElfSymbol[] => {
  const index = sections.findIndex((section) => section.type === type);
  const table = sections[index];
  if (table === undefined) return [];
  const name = type === SectionType.SymTab ? '.symtab' : '.dynsym';
  const strings = sections[table.link];
  if (strings?.type !== SectionType.StrTab) {
    report(
      `the names of ${name} are said to be in section ${table.link}, which is no string table`,
    );
    return [];
  }
  const versions = sections.find(
    (section) => section.type === SectionType.GnuVersym && section.link === index,
  );
  const definitions = sections.find((section) => section.type === SectionType.GnuVerdef);
  const read = {
    name,
    symbols: Number(table.offset),
    count: Math.floor(Number(table.size) / SYMBOL_SIZE),
    strings: Number(strings.offset),
    stringsSize: Number(strings.size),
    versions: versions && Number(versions.offset),
    versionNames: definitions ? versionNames(reader, sections, definitions) : NO_VERSIONS,
  };
  return readTable(reader, read, report);
};

const versionNames = (
  reader: ElfReader,
  sections: readonly Section[],
  { offset, size, link }: Section,
): ReadonlyMap<number, string> => {
  const strings = Number(sections[link]?.offset ?? 0n);
  return readVersions(reader, Number(offset), Number(offset + size), strings);
};
