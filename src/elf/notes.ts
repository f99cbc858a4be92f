import { SectionType, SegmentType } from './format.ts';
import { badElf, type ElfReader } from './reader.ts';
import type { Section } from './sections.ts';
import type { Segment } from './segments.ts';

export interface ElfNote {
  readonly name: string;
  readonly type: number;
  readonly description: Uint8Array;
}

/**
 * All notes: those of sections (`.note.stapsdt` is not loaded, so no segment has it), and those of
 * segments where the file has no section headers.
 */
export const readNotes = (
  reader: ElfReader,
  sections: readonly Section[],
  segments: readonly Segment[],
): ElfNote[] =>
  sections.length > 0
    ? sections
        .filter(({ type }) => type === SectionType.Note)
        .flatMap(({ offset, size, align }) => readRun(reader, offset, size, align))
    : segments
        .filter(({ type }) => type === SegmentType.Note)
        .flatMap(({ offset, fileSize, align }) => readRun(reader, offset, fileSize, align));

/** One run of notes: name size, description size, type, then name and description, each padded. */
const readRun = (reader: ElfReader, offset: bigint, size: bigint, align: bigint): ElfNote[] => {
  const start = reader.need(offset, size, 'its notes');
  const end = start + Number(size);
  // .note.gnu.property is padded to 8 bytes, all others to 4.
  const pad = align === 8n ? 8 : 4;
  const notes: ElfNote[] = [];
  for (let at = start; at + 12 <= end; ) {
    const nameSize = reader.u32(at);
    const descriptionAt = at + padded(12 + nameSize, pad);
    const next = descriptionAt + padded(reader.u32(at + 4), pad);
    const descriptionEnd = descriptionAt + reader.u32(at + 4);
    if (descriptionEnd > end) throw badElf(reader.path, 'a note is longer than its section');
    notes.push({
      name: reader.string(at + 12, at + 12 + nameSize),
      type: reader.u32(at + 8),
      description: reader.bytes.subarray(descriptionAt, descriptionEnd),
    });
    at = next;
  }
  return notes;
};

const padded = (size: number, pad: number): number => Math.ceil(size / pad) * pad;
