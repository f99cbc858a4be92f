import { PAGE_MASK } from '../base/bytes.ts';
import { PROGRAM_HEADER_SIZE, SegmentType } from './format.ts';
import type { ElfHeader } from './header.ts';
import { badElf, type ElfReader } from './reader.ts';

/** Elf64_Phdr. */
export interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: bigint;
  readonly address: bigint;
  readonly fileSize: bigint;
  readonly memorySize: bigint;
  readonly align: bigint;
}

/** First address above user space: no segment may reach it. */
const ADDRESS_LIMIT = 0x7ffffffff000n;

/** Reads the program headers and checks the PT_LOAD ones the way the kernel's loader needs them. */
export const readSegments = (reader: ElfReader, header: ElfHeader): Segment[] => {
  const { offset, count } = header.programHeaders;
  const at = reader.need(offset, BigInt(count * PROGRAM_HEADER_SIZE), 'its program headers');
  const segments = Array.from({ length: count }, (_, i) =>
    readSegment(reader, at + i * PROGRAM_HEADER_SIZE),
  );
  const loads = segments.filter((segment) => segment.type === SegmentType.Load);
  if (loads.length === 0) throw badElf(reader.path, 'no PT_LOAD segment, so nothing to load');
  for (const load of loads) {
    const problem = problemOf(load, BigInt(reader.bytes.length));
    if (problem !== null) throw badElf(reader.path, `segment ${name(load)} ${problem}`);
  }
  checkOrder(reader.path, loads);
  return segments;
};

const readSegment = (reader: ElfReader, at: number): Segment => ({
  type: reader.u32(at),
  flags: reader.u32(at + 4),
  offset: reader.u64(at + 8),
  address: reader.u64(at + 16),
  fileSize: reader.u64(at + 32),
  memorySize: reader.u64(at + 40),
  align: reader.u64(at + 48),
});

const name = (segment: Segment): string => `at 0x${segment.address.toString(16)}`;

const problemOf = (load: Segment, size: bigint): string | null => {
  if (load.fileSize > load.memorySize) return 'has more bytes in the file than in memory';
  if (load.memorySize > ADDRESS_LIMIT || load.address > ADDRESS_LIMIT - load.memorySize)
    return 'does not fit into the address space';
  if (load.fileSize > size || load.offset > size - load.fileSize)
    return 'lies outside the file (truncated?)';
  if (((load.address - load.offset) & PAGE_MASK) !== 0n)
    return 'has an address and a file offset that differ within the page';
  return null;
};

/** The ABI wants ascending addresses; the kernel's loader relies on it for the total size. */
const checkOrder = (path: string, loads: readonly Segment[]): void => {
  loads.forEach((load, i) => {
    const before = loads[i - 1];
    if (before === undefined) return;
    if (load.address < before.address)
      throw badElf(path, `segment ${name(load)} comes after the one ${name(before)}`);
    if (load.address < before.address + before.memorySize)
      throw badElf(path, `segment ${name(load)} overlaps the one ${name(before)}`);
  });
};

/** The PT_LOAD segment whose memory has a link-time address; there is one at most. */
export const loadAt = (segments: readonly Segment[], address: bigint): Segment | undefined =>
  segments.find(
    (segment) =>
      segment.type === SegmentType.Load &&
      address >= segment.address &&
      address - segment.address < segment.memorySize,
  );

/** File offset behind a link-time address, by PT_LOAD segments; undefined in bss or outside. */
export const offsetOfAddress = (
  segments: readonly Segment[],
  address: bigint,
): bigint | undefined => {
  const load = loadAt(segments, address);
  if (load === undefined || address - load.address >= load.fileSize) return undefined;
  return load.offset + (address - load.address);
};

/**
 * Link-time address of a file offset. Two segments may share a byte of the file: the executable
 * one is the answer then, for that is where a probe goes.
 */
export const addressOfOffset = (
  segments: readonly Segment[],
  offset: bigint,
): bigint | undefined => {
  const loads = segments.filter(
    (segment) =>
      segment.type === SegmentType.Load &&
      offset >= segment.offset &&
      offset - segment.offset < segment.fileSize,
  );
  const load = loads.find((segment) => (segment.flags & 1) !== 0) ?? loads[0];
  return load === undefined ? undefined : load.address + (offset - load.offset);
};
