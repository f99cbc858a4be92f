import { SYMBOL_SIZE, SymbolType, VERSYM_HIDDEN } from './format.ts';
import type { ElfReader, Report } from './reader.ts';

export interface ElfSymbol {
  /** Without version. */
  readonly name: string;
  /** The version it belongs to, null for none. */
  readonly version: string | null;
  /** Link-time address. */
  readonly address: bigint;
  readonly size: bigint;
  /** One of `SymbolType`. */
  readonly type: number;
  /** One of `SymbolBinding`. */
  readonly binding: number;
  /** An old version of the name, which the linker no longer takes. */
  readonly hidden: boolean;
}

/** File offsets of a symbol table and of what belongs to it. */
export interface SymbolTable {
  /** How messages name it. */
  readonly name: string;
  readonly symbols: number;
  readonly count: number;
  readonly strings: number;
  readonly stringsSize: number;
  /** One 16-bit version a symbol, where there are any. */
  readonly versions: number | undefined;
  /** What those versions are called. */
  readonly versionNames: ReadonlyMap<number, string>;
}

/** The defined symbols of a table; none when it does not lie inside the file. */
export const readTable = (reader: ElfReader, table: SymbolTable, report: Report): ElfSymbol[] => {
  const { count, strings, stringsSize } = table;
  const size = reader.bytes.length;
  if (table.symbols + count * SYMBOL_SIZE > size || strings + stringsSize > size) {
    report(`${table.name} or its names lie outside the file`);
    return [];
  }
  const versionOf = versionReader(reader, table);
  const symbols: ElfSymbol[] = [];
  let nameless = 0;
  for (let i = 1; i < count; i++) {
    const at = table.symbols + i * SYMBOL_SIZE;
    const nameAt = reader.u32(at);
    const info = reader.u8(at + 4);
    const type = info & 15;
    const defined = reader.u16(at + 6) !== 0;
    if (!defined || nameAt === 0) continue;
    if (type === SymbolType.Section || type === SymbolType.File) continue;
    if (nameAt >= stringsSize) {
      nameless++;
      continue;
    }
    symbols.push({
      ...versionOf(i, reader.string(strings + nameAt, strings + stringsSize)),
      address: reader.u64(at + 8),
      size: reader.u64(at + 16),
      type,
      binding: info >> 4,
    });
  }
  if (nameless > 0) report(`${nameless} symbols of ${table.name} have names outside its strings`);
  return symbols;
};

/** 0 and 1 stand for local and for global without a version. */
const FIRST_VERSION = 2;

type Versioned = Pick<ElfSymbol, 'name' | 'version' | 'hidden'>;

/** A symbol's name and version, from its index and the text in the table. */
const versionReader = (
  reader: ElfReader,
  { count, versions, versionNames }: SymbolTable,
): ((index: number, text: string) => Versioned) => {
  if (versions === undefined || versions + 2 * count > reader.bytes.length)
    return (_, text) => splitVersion(text);
  return (index, text) => {
    const word = reader.u16(versions + 2 * index);
    const index15 = word & ~VERSYM_HIDDEN;
    const version = index15 < FIRST_VERSION ? null : (versionNames.get(index15) ?? null);
    return { name: splitVersion(text).name, version, hidden: (word & VERSYM_HIDDEN) !== 0 };
  };
};

/** .symtab of a shared library spells versions out: `name@OLD`, `name@@DEFAULT`. */
const splitVersion = (text: string): Versioned => {
  const at = text.indexOf('@');
  if (at <= 0) return { name: text, version: null, hidden: false };
  const hidden = text[at + 1] !== '@';
  return { name: text.slice(0, at), version: text.slice(at + (hidden ? 1 : 2)), hidden };
};
