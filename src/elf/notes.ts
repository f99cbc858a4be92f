import { SectionType, SegmentType } from './format.ts';
import type { ElfReader, Report } from './reader.ts';
import type { Section } from './sections.ts';
import type { Segment } from './segments.ts';

export interface ElfNote {
  /** Name of the section it is in; empty where the file has no section headers. */
  readonly section: string;
  readonly name: string;
  readonly type: number;
  readonly description: Uint8Array;
}

/** A piece of the file that holds notes. */
interface Run {
  readonly section: string;
  readonly offset: bigint;
  readonly size: bigint;
  readonly align: bigint;
}

/**
 * All notes: those of sections (`.note.stapsdt` is not loaded, so no segment has it), and those of
 * segments where the file has no section headers. A broken one ends its section.
 */
export const readNotes = (
  reader: ElfReader,
  sections: readonly Section[],
  segments: readonly Segment[],
  report: Report,
): ElfNote[] =>
  (sections.length > 0 ? sectionRuns(sections) : segmentRuns(segments)).flatMap((run) =>
    readRun(reader, run, report),
  );

const sectionRuns = (sections: readonly Section[]): Run[] =>
  sections
    .filter(({ type }) => type === SectionType.Note)
    .map(({ name, offset, size, align }) => ({ section: name, offset, size, align }));

const segmentRuns = (segments: readonly Segment[]): Run[] =>
  segments
    .filter(({ type }) => type === SegmentType.Note)
    .map(({ offset, fileSize, align }) => ({ section: '', offset, size: fileSize, align }));

const HEADER_SIZE = 12;

/** One run of notes: name size, description size, type, then name and description, each padded. */
const readRun = (reader: ElfReader, run: Run, report: Report): ElfNote[] => {
  const { section, offset, size, align } = run;
  const where = section === '' ? 'its note segment' : `section ${section}`;
  if (!reader.has(offset, size)) {
    report(`${where} lies outside the file`);
    return [];
  }
  const end = Number(offset + size);
  // .note.gnu.property is padded to 8 bytes, all others to 4.
  const pad = align === 8n ? 8 : 4;
  const notes: ElfNote[] = [];
  let at = Number(offset);
  while (at + HEADER_SIZE <= end) {
    const nameSize = reader.u32(at);
    const descriptionAt = at + padded(HEADER_SIZE + nameSize, pad);
    const descriptionEnd = descriptionAt + reader.u32(at + 4);
    if (descriptionEnd > end) {
      report(`note ${notes.length + 1} of ${where} is longer than what is left of it`);
      return notes;
    }
    notes.push({
      section,
      name: reader.string(at + HEADER_SIZE, at + HEADER_SIZE + nameSize),
      type: reader.u32(at + 8),
      description: reader.bytes.subarray(descriptionAt, descriptionEnd),
    });
    at = descriptionAt + padded(descriptionEnd - descriptionAt, pad);
  }
  if (at < end) report(`${end - at} bytes at the end of ${where} are no note`);
  return notes;
};

const padded = (size: number, pad: number): number => Math.ceil(size / pad) * pad;
