/** ELF files with USDT notes made of bytes: any number of sites, and notes as broken as wanted. */
import { CODE_ADDRESS, staticElf } from '../../src/bench/program.ts';

const SECTION_SIZE = 64;
const NAMES = '\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0';
const SHT = { progbits: 1, strtab: 3, note: 7 } as const;

export interface Note {
  readonly name?: string;
  readonly type?: number;
  readonly description: Uint8Array;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

const padded = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  whole.set(bytes);
  return whole;
};

const words = (...values: readonly number[]): Uint8Array =>
  new Uint8Array(new Uint32Array(values).buffer);

/** Three addresses, then the strings with their NULs as given. */
export const probeDescription = (
  addresses: { readonly location: bigint; readonly base?: bigint; readonly semaphore?: bigint },
  strings: string,
): Uint8Array => {
  const { location, base = 0n, semaphore = 0n } = addresses;
  return joined([
    new Uint8Array(new BigUint64Array([location, base, semaphore]).buffer),
    text(strings),
  ]);
};

export const noteBytes = ({ name = 'stapsdt', type = 3, description }: Note): Uint8Array =>
  joined([
    words(name.length + 1, description.length, type),
    padded(text(`${name}\0`)),
    padded(description),
  ]);

export interface UsdtElfOptions {
  /** sh_addr of .stapsdt.base; absent = there is no such section. */
  readonly base?: bigint;
  /** sh_size of .note.stapsdt; default its real size. */
  readonly size?: number;
}

/** A static program that is `code`, with a section .note.stapsdt of these bytes. */
export const elfWithNotes = (
  code: ArrayLike<number>,
  notes: Uint8Array,
  { base, size = notes.length }: UsdtElfOptions = {},
): Uint8Array => {
  const program = padded(staticElf(code));
  const notesAt = program.length;
  const namesAt = notesAt + notes.length;
  const names = text(NAMES);
  const headersAt = namesAt + padded(names).length;
  const file = new Uint8Array(headersAt + 4 * SECTION_SIZE);
  file.set(program);
  file.set(notes, notesAt);
  file.set(names, namesAt);
  const view = new DataView(file.buffer);
  const section = (index: number, name: string, type: number, at: number, length: number): void => {
    const header = headersAt + index * SECTION_SIZE;
    view.setUint32(header, NAMES.indexOf(name), true);
    view.setUint32(header + 4, type, true);
    view.setBigUint64(header + 24, BigInt(at), true);
    view.setBigUint64(header + 32, BigInt(length), true);
    view.setBigUint64(header + 48, 4n, true);
  };
  section(1, '.note.stapsdt', SHT.note, notesAt, size);
  section(2, '.shstrtab', SHT.strtab, namesAt, names.length);
  if (base !== undefined) {
    section(3, '.stapsdt.base', SHT.progbits, notesAt, 1);
    view.setBigUint64(headersAt + 3 * SECTION_SIZE + 16, base, true);
  }
  view.setBigUint64(40, BigInt(headersAt), true);
  view.setUint16(58, SECTION_SIZE, true);
  view.setUint16(60, base === undefined ? 3 : 4, true);
  view.setUint16(62, 2, true);
  return file;
};

/** `mov $231,%eax; xor %edi,%edi; syscall` */
const EXIT = [0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];

/** Sites one after the other, all of one probe `many:site` with one argument; each is met once. */
export const elfWithSites = (count: number): Uint8Array => {
  const code = new Uint8Array(count + EXIT.length).fill(0x90);
  code.set(EXIT, count);
  const notes = Array.from({ length: count }, (_, i) =>
    noteBytes({
      description: probeDescription({ location: CODE_ADDRESS + BigInt(i) }, 'many\0site\0-4@$7\0'),
    }),
  );
  return elfWithNotes(code, joined(notes));
};
