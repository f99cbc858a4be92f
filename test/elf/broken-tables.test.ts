/** Tables that the kernel never reads: a broken one is left out and told of, the program stays usable. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { view } from '../../src/base/bytes.ts';
import { ElfImage } from '../../src/elf/image.ts';

const ORIGINAL = Uint8Array.from(readFileSync(join(import.meta.dirname, 'goldens/symbols.so')));

/** Fields of Elf64_Ehdr, Elf64_Shdr and Elf64_Sym by offset. */
const Ehdr = { shoff: 40, shentsize: 58, shnum: 60, shstrndx: 62 } as const;
const Shdr = { size: 64, type: 4, address: 16, offset: 24, length: 32, link: 40 } as const;
const SYMBOL_SIZE = 24;
const SHT = { symtab: 2, dynsym: 11, verdef: 0x6ffffffd, versym: 0x6fffffff } as const;
const FAR = 1n << 60n;

const headersOf = (words: DataView): number => Number(words.getBigUint64(Ehdr.shoff, true));

/** File offset of the header of the section with this type. */
const headerOf = (words: DataView, type: number): number => {
  for (let at = headersOf(words); at < words.byteLength; at += Shdr.size)
    if (words.getUint32(at + Shdr.type, true) === type) return at;
  throw new Error(`no section of type ${type}`);
};

const set64 =
  (type: number, field: number, value: bigint) =>
  (words: DataView): void =>
    words.setBigUint64(headerOf(words, type) + field, value, true);

const set32 =
  (type: number, field: number, value: number) =>
  (words: DataView): void =>
    words.setUint32(headerOf(words, type) + field, value, true);

const changed = (change: (words: DataView) => void): ElfImage => {
  const bytes = ORIGINAL.slice();
  change(view(bytes));
  return ElfImage.parse(bytes, '/broken');
};

/** Change, what is said, and whether `exported` is still found. */
type Case = readonly [string, (words: DataView) => void, RegExp | null, boolean];

const CASES: readonly Case[] = [
  [
    'section headers past the end',
    (words) => words.setBigUint64(Ehdr.shoff, FAR, true),
    /section headers lie outside/,
    true,
  ],
  [
    '65,535 sections',
    (words) => words.setUint16(Ehdr.shnum, 0xffff, true),
    /headers lie outside/,
    true,
  ],
  [
    'section headers of 40 bytes',
    (words) => words.setUint16(Ehdr.shentsize, 40, true),
    /of 40 bytes/,
    true,
  ],
  [
    'no name section',
    (words) => words.setUint16(Ehdr.shstrndx, 999, true),
    /names of its sections/,
    true,
  ],
  [
    'section names past the end',
    (words) => {
      const header = headersOf(words) + Shdr.size * words.getUint16(Ehdr.shstrndx, true);
      words.setBigUint64(header + Shdr.offset, FAR, true);
    },
    /names of its sections/,
    true,
  ],
  [
    '.symtab past the end',
    set64(SHT.symtab, Shdr.offset, FAR),
    /^\.symtab or its names lie outside/,
    true,
  ],
  [
    '.symtab of an exabyte',
    set64(SHT.symtab, Shdr.length, FAR),
    /^\.symtab or its names lie outside/,
    true,
  ],
  [
    '.dynsym past the end',
    set64(SHT.dynsym, Shdr.offset, FAR),
    /^\.dynsym or its names lie outside/,
    true,
  ],
  [
    'names of .symtab nowhere',
    set32(SHT.symtab, Shdr.link, 77),
    /in section 77, which is no string/,
    true,
  ],
  [
    'names of .symtab in section 0',
    set32(SHT.symtab, Shdr.link, 0),
    /in section 0, which is no string/,
    true,
  ],
  [
    'a name outside the strings',
    (words) => {
      const table = Number(words.getBigUint64(headerOf(words, SHT.symtab) + Shdr.offset, true));
      const length = Number(words.getBigUint64(headerOf(words, SHT.symtab) + Shdr.length, true));
      words.setUint32(table + length - SYMBOL_SIZE, 0xfffffff0, true);
    },
    /^1 symbols of \.symtab have names outside/,
    true,
  ],
  ['versions past the end', set64(SHT.versym, Shdr.offset, FAR), null, true],
  ['version names past the end', set64(SHT.verdef, Shdr.offset, FAR), null, true],
  ['a .symtab of odd size', set64(SHT.symtab, Shdr.length, 25n), null, true],
];

describe('a broken table', () => {
  it.each(CASES)('%s', (_name, change, problem, found) => {
    const image = changed(change);
    expect(image.functionsNamed('exported').length > 0).toBe(found);
    image.functions();
    image.notes();
    expect(image.problems).toEqual(problem === null ? [] : [expect.stringMatching(problem)]);
  });
});

/** The dynamic section of the file without section headers: tag and value. */
const dynamic = (change: (set: (tag: bigint, value: bigint) => void) => void): ElfImage =>
  changed((words) => {
    words.setBigUint64(Ehdr.shoff, 0n, true);
    words.setUint16(Ehdr.shnum, 0, true);
    const segment = ElfImage.parse(ORIGINAL, '').segments.find(({ type }) => type === 2);
    const start = Number(segment?.offset);
    change((tag, value) => {
      for (let at = start; words.getBigUint64(at, true) !== 0n; at += 16)
        if (words.getBigUint64(at, true) === tag) words.setBigUint64(at + 8, value, true);
    });
  });

/** DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_VERDEF. */
const DYNAMIC: readonly (readonly [string, bigint, bigint, RegExp | null])[] = [
  ['a hash table nowhere', 4n, FAR, null],
  ['strings nowhere', 5n, FAR, null],
  ['symbols nowhere', 6n, FAR, null],
  ['an exabyte of strings', 10n, FAR, /^the dynamic symbol table or its names lie outside/],
  ['version definitions nowhere', 0x6ffffffcn, FAR, null],
];

describe('a broken dynamic section, where there are no section headers', () => {
  it.each(DYNAMIC)('%s', (_name, tag, value, problem) => {
    const image = dynamic((set) => set(tag, value));
    expect(() => image.functions()).not.toThrow();
    expect(image.problems).toEqual(problem === null ? [] : [expect.stringMatching(problem)]);
  });

  it('past the end of the file', () => {
    const image = changed((words) => {
      words.setUint16(Ehdr.shnum, 0, true);
      words.setBigUint64(Ehdr.shoff, 0n, true);
      for (let i = 0; i < words.getUint16(56, true); i++)
        if (words.getUint32(64 + 56 * i, true) === 2)
          words.setBigUint64(64 + 56 * i + 8, FAR, true);
    });
    expect(image.functions()).toEqual([]);
    expect(image.needed).toEqual([]);
  });
});

describe('offsets', () => {
  it('come from segments, whatever section headers say', () => {
    const plain = ElfImage.parse(ORIGINAL, '/plain').functions();
    const lying = changed((words) => {
      for (let at = headersOf(words); at + Shdr.size <= words.byteLength; at += Shdr.size) {
        const address = words.getBigUint64(at + Shdr.address, true);
        // Code sections keep their address, so that labels in them are still labels in code.
        if (words.getUint32(at + Shdr.type, true) === 1 && address === 0x1000n)
          words.setBigUint64(at + Shdr.offset, 0x40n, true);
      }
    });
    expect(lying.functions()).toEqual(plain);
  });
});
