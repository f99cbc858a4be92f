import { DYNAMIC_ENTRY_SIZE, DynamicTag, SegmentType } from './format.ts';
import type { ElfReader } from './reader.ts';
import { offsetOfAddress, type Segment } from './segments.ts';
import type { SymbolTable } from './symbol-table.ts';
import { readVersions } from './versions.ts';

/** Tag and value of every entry of the dynamic section, in order. */
const dynamicEntries = (
  reader: ElfReader,
  segments: readonly Segment[],
): readonly (readonly [number, bigint])[] => {
  const entries: [number, bigint][] = [];
  const segment = segments.find(({ type }) => type === SegmentType.Dynamic);
  if (segment === undefined || !reader.has(segment.offset, segment.fileSize)) return entries;
  const start = Number(segment.offset);
  const end = start + Number(segment.fileSize);
  for (let at = start; at + DYNAMIC_ENTRY_SIZE <= end; at += DYNAMIC_ENTRY_SIZE) {
    const tag = Number(reader.u64(at));
    if (tag === DynamicTag.Null) break;
    entries.push([tag, reader.u64(at + 8)]);
  }
  return entries;
};

/** The dynamic section by tag; the first entry of a tag that occurs more than once. */
export const readDynamic = (
  reader: ElfReader,
  segments: readonly Segment[],
): ReadonlyMap<number, bigint> => new Map([...dynamicEntries(reader, segments)].reverse());

/** Names of the libraries the file itself asks for (DT_NEEDED). */
export const readNeeded = (reader: ElfReader, segments: readonly Segment[]): readonly string[] => {
  const entries = dynamicEntries(reader, segments);
  const address = entries.find(([tag]) => tag === DynamicTag.StrTab)?.[1];
  const strings = address === undefined ? undefined : offsetOfAddress(segments, address);
  if (strings === undefined) return [];
  return entries
    .filter(([tag]) => tag === DynamicTag.Needed)
    .map(([, offset]) => strings + offset)
    .filter((at) => at < BigInt(reader.bytes.length))
    .map((at) => reader.string(Number(at)));
};

/**
 * The dynamic symbol table by way of the dynamic section, for files without section headers. Its
 * length is written nowhere: a hash table tells it. Undefined when something is missing or broken.
 */
export const dynamicSymbolTable = (
  reader: ElfReader,
  segments: readonly Segment[],
): SymbolTable | undefined => {
  const dynamic = readDynamic(reader, segments);
  const offsetOf = (tag: number): number | undefined => {
    const address = dynamic.get(tag);
    const offset = address === undefined ? undefined : offsetOfAddress(segments, address);
    return offset === undefined ? undefined : Number(offset);
  };
  const symbols = offsetOf(DynamicTag.SymTab);
  const strings = offsetOf(DynamicTag.StrTab);
  if (symbols === undefined || strings === undefined) return undefined;
  const hash = offsetOf(DynamicTag.Hash);
  const gnuHash = offsetOf(DynamicTag.GnuHash);
  const count =
    hash !== undefined && hash + 8 <= reader.bytes.length
      ? reader.u32(hash + 4)
      : gnuHash === undefined
        ? 0
        : gnuHashCount(reader, gnuHash);
  const stringsSize = Number(dynamic.get(DynamicTag.StrSize) ?? 0n);
  const definitions = offsetOf(DynamicTag.Verdef);
  return {
    name: 'the dynamic symbol table',
    symbols,
    count,
    strings,
    stringsSize,
    versions: offsetOf(DynamicTag.Versym),
    versionNames:
      definitions === undefined
        ? new Map()
        : readVersions(reader, definitions, reader.bytes.length, strings),
  };
};

/**
 * One more than the highest symbol index of a DT_GNU_HASH table: the end of the last chain. Header:
 * nbuckets, symoffset, bloom size, bloom shift; then the bloom words (8 bytes), buckets and chains (4).
 */
const gnuHashCount = (reader: ElfReader, at: number): number => {
  const size = reader.bytes.length;
  if (at + 16 > size) return 0;
  const buckets = reader.u32(at);
  const first = reader.u32(at + 4);
  const bucketsAt = at + 16 + 8 * reader.u32(at + 8);
  const chainsAt = bucketsAt + 4 * buckets;
  if (chainsAt > size) return 0;
  let last = 0;
  for (let i = 0; i < buckets; i++) last = Math.max(last, reader.u32(bucketsAt + 4 * i));
  if (last < first) return first;
  // Bit 0 marks the last entry of a chain.
  for (let chain = chainsAt + 4 * (last - first); chain + 4 <= size; chain += 4, last++)
    if ((reader.u32(chain) & 1) !== 0) return last + 1;
  return 0;
};
