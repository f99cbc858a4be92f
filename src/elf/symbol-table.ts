import { SYMBOL_SIZE, SymbolType, VERSYM_HIDDEN } from './format.ts';
import type { ElfReader } from './reader.ts';

export interface ElfSymbol {
  /** Without version. */
  readonly name: string;
  /** Link-time address. */
  readonly address: bigint;
  readonly size: bigint;
  /** One of `SymbolType`. */
  readonly type: number;
  /** An old version of the name, which the linker no longer takes. */
  readonly hidden: boolean;
}

/** File offsets of a symbol table and of what belongs to it. */
export interface SymbolTable {
  readonly symbols: number;
  readonly count: number;
  readonly strings: number;
  readonly stringsSize: number;
  /** One 16-bit version a symbol, where there are any. */
  readonly versions: number | undefined;
}

/** The defined symbols of a table; none when it does not lie inside the file. */
export const readTable = (reader: ElfReader, table: SymbolTable): ElfSymbol[] => {
  const { count, strings, stringsSize } = table;
  const size = reader.bytes.length;
  if (table.symbols + count * SYMBOL_SIZE > size || strings + stringsSize > size) return [];
  const versions =
    table.versions !== undefined && table.versions + 2 * count <= size ? table.versions : undefined;
  const symbols: ElfSymbol[] = [];
  for (let i = 1; i < count; i++) {
    const at = table.symbols + i * SYMBOL_SIZE;
    const nameAt = reader.u32(at);
    const type = reader.u8(at + 4) & 15;
    const defined = reader.u16(at + 6) !== 0;
    if (!defined || nameAt === 0 || nameAt >= stringsSize) continue;
    if (type === SymbolType.Section || type === SymbolType.File) continue;
    const [name, old] = splitVersion(reader.string(strings + nameAt, strings + stringsSize));
    const hidden =
      versions === undefined ? old : (reader.u16(versions + 2 * i) & VERSYM_HIDDEN) !== 0;
    symbols.push({ name, address: reader.u64(at + 8), size: reader.u64(at + 16), type, hidden });
  }
  return symbols;
};

/** .symtab of a shared library spells versions out: `name@OLD`, `name@@DEFAULT`. */
const splitVersion = (text: string): [name: string, old: boolean] => {
  const at = text.indexOf('@');
  return at > 0 ? [text.slice(0, at), text[at + 1] !== '@'] : [text, false];
};
