import type { ElfReader } from './reader.ts';

/** Sizes of Elf64_Verdef and Elf64_Verdaux. */
const VERDEF_SIZE = 20;
const VERDAUX_SIZE = 8;
/** Indices are 15 bits wide. */
const MOST = 0x8000;

/**
 * Names of the versions a library defines, by index (.gnu.version_d). A broken chain ends there.
 * @param at file offset of the first entry
 * @param end where entries must end
 * @param strings file offset of the string table
 */
export const readVersions = (
  reader: ElfReader,
  at: number,
  end: number,
  strings: number,
): ReadonlyMap<number, string> => {
  const versions = new Map<number, string>();
  const last = Math.min(end, reader.bytes.length) - VERDEF_SIZE;
  for (let entry = at; entry <= last && versions.size < MOST; ) {
    const aux = entry + reader.u32(entry + 12);
    if (aux + VERDAUX_SIZE > reader.bytes.length) break;
    const name = strings + reader.u32(aux);
    if (name >= reader.bytes.length) break;
    versions.set(reader.u16(entry + 4), reader.string(name));
    const next = reader.u32(entry + 16);
    if (next === 0) break;
    entry += next;
  }
  return versions;
};
