import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { view } from '../../src/base/bytes.ts';
import { SymbolType } from '../../src/elf/format.ts';
import { ElfImage } from '../../src/elf/image.ts';

const GOLDENS = join(import.meta.dirname, 'goldens');
const BYTES = Uint8Array.from(readFileSync(join(GOLDENS, 'symbols.so')));
const GOLDEN = readFileSync(join(GOLDENS, 'symbols.txt'), 'utf8').trimEnd().split('\n').slice(1);

/** .text: file offset and address, as readelf prints them. */
const [TEXT_OFFSET, TEXT_ADDRESS] = (GOLDEN[0] ?? '')
  .split(' ')
  .slice(1)
  .map((word) => BigInt(`0x${word}`)) as [bigint, bigint];

const TYPES: Readonly<Record<string, number>> = {
  NOTYPE: SymbolType.None,
  OBJECT: SymbolType.Object,
  FUNC: SymbolType.Func,
  IFUNC: SymbolType.Ifunc,
};

/** readelf's lines of a table, as our symbols print. */
const expected = (table: string): string[] =>
  GOLDEN.filter((line) => line.startsWith(`'${table}'`)).map((line) => {
    const [, address, size, type, name = ''] = line.split(' ');
    return `${name.replace(/@.*/, '')} ${BigInt(`0x${address}`)} ${size} ${TYPES[type ?? '']}`;
  });

const printed = (image: ElfImage): string[] =>
  image.symbols.map(({ name, address, size, type }) => `${name} ${address} ${size} ${type}`);

/** The file with its section headers hidden, and other changes. */
const withoutSections = (change?: (words: DataView) => void): ElfImage => {
  const bytes = Uint8Array.from(BYTES);
  view(bytes).setUint16(60, 0, true);
  change?.(view(bytes));
  return ElfImage.parse(bytes, '/symbols.so');
};

describe('symbols, beside readelf', () => {
  const image = ElfImage.parse(BYTES, '/symbols.so');

  it('come from .symtab, then .dynsym', () => {
    expect(printed(image)).toEqual([...expected('.symtab'), ...expected('.dynsym')]);
  });

  it('come through DT_HASH where there are no section headers', () => {
    expect(printed(withoutSections())).toEqual(expected('.dynsym'));
  });

  it('come through DT_GNU_HASH where that is all there is', () => {
    const dynamic = image.segments.find(({ type }) => type === 2);
    const gnuOnly = withoutSections((words) => {
      // DT_HASH is the first entry; DT_DEBUG (21) means nothing in a library.
      expect(words.getBigUint64(Number(dynamic?.offset), true)).toBe(4n);
      words.setBigUint64(Number(dynamic?.offset), 21n, true);
    });
    expect(printed(gnuOnly)).toEqual(expected('.dynsym'));
  });
});

describe('functions', () => {
  const image = ElfImage.parse(BYTES, '/symbols.so');
  const offset = (address: bigint): bigint => address - TEXT_ADDRESS + TEXT_OFFSET;

  it('are listed once each, in address order, with file offsets', () => {
    expect(image.functions().map(({ name, address }) => `${name} ${address.toString(16)}`)).toEqual(
      [
        'exported 1000',
        'weak_one 1002',
        'local_one 1003',
        'chosen 1006',
        'label 100e',
        'versioned_old 100f',
        'versioned 100f',
        'versioned_new 1010',
        'versioned 1010',
      ],
    );
    for (const found of image.functions()) expect(found.offset).toBe(offset(found.address));
  });

  it('are found by name, in their default version, or in the one that is asked for', () => {
    const expectedVersion = {
      name: 'versioned',
      kind: 'function',
      version: 'NEW',
      address: 0x1010n,
      offset: offset(0x1010n),
      size: 2n,
    };
    for (const file of [image, withoutSections()]) {
      expect(file.functionsNamed('versioned')).toEqual([expectedVersion]);
      expect(file.functionsNamed('versioned@NEW')).toEqual([expectedVersion]);
      expect(file.functionsNamed('versioned@@NEW')).toEqual([expectedVersion]);
      expect(file.functionsNamed('versioned@OLD')[0]?.address).toBe(0x100fn);
      expect(file.functionsNamed('versioned@OLDER')).toEqual([]);
    }
    expect(image.functionsNamed('label')).toMatchObject([{ kind: 'label', address: 0x100en }]);
    expect(image.functionsNamed('chosen')).toMatchObject([{ kind: 'ifunc', address: 0x1006n }]);
    expect(image.functionsNamed('thing')).toEqual([]);
    expect(image.functionsNamed('missing')).toEqual([]);
    expect(image.problems).toEqual([]);
  });
});

describe('addresses and offsets', () => {
  const image = ElfImage.parse(BYTES, '/symbols.so');

  it('convert by segments', () => {
    // The writable segment: 0x2ee0 both ways, 0x130 bytes (readelf -l).
    expect(image.offsetOfAddress(0x3008n)).toBe(0x3008n);
    expect(image.offsetOfAddress(0x3010n)).toBeUndefined();
    expect(image.addressOfOffset(0x1000n)).toBe(0x1000n);
    expect(image.addressOfOffset(0x1800n)).toBeUndefined();
  });
});

describe('notes', () => {
  it('are read from sections that no segment holds', () => {
    const notes = ElfImage.parse(BYTES, '/symbols.so').notes();
    expect(notes).toEqual([
      {
        section: '.note.trapline',
        name: 'trapline',
        type: 42,
        description: new TextEncoder().encode('12345'),
      },
      { section: '.note.trapline', name: 'end', type: 7, description: new Uint8Array() },
    ]);
  });

  it('that are longer than their section are left out, and told of', () => {
    const bytes = Uint8Array.from(BYTES);
    const at = Buffer.from(bytes).indexOf('trapline\0') - 12;
    view(bytes).setUint32(at + 4, 1000, true);
    const image = ElfImage.parse(bytes, '/x');
    expect(image.notes()).toEqual([]);
    expect(image.problems).toEqual([
      'note 1 of section .note.trapline is longer than what is left of it',
    ]);
  });
});
