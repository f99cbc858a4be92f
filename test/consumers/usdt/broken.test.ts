/** Broken notes: each is told of in a sentence, and the good one before it is found all the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODE_ADDRESS } from '../../../src/bench/program.ts';
import { usdtNotes } from '../../../src/consumers/usdt/notes.ts';
import { ElfImage } from '../../../src/elf/image.ts';
import { ProgramInspector, requireProfile, TraplineError } from '../../../src/index.ts';
import {
  elfWithNotes,
  type Note,
  noteBytes,
  probeDescription,
  type UsdtElfOptions,
} from '../../helpers/usdt-elf.ts';

const CODE = [0x90, 0x90, 0xc3];
const AT = { location: CODE_ADDRESS };

const GOOD: Note = { description: probeDescription(AT, 'shop\0open\0-4@%edi\0') };

const together = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

const withStrings = (strings: string, addresses = AT): Note => ({
  description: probeDescription(addresses, strings),
});

/** A note whose size fields are changed afterwards: 0 = name, 1 = description. */
const resized = (field: 0 | 1, value: number): Uint8Array => {
  const bytes = noteBytes(withStrings('shop\0sale\0\0'));
  new DataView(bytes.buffer).setUint32(4 * field, value, true);
  return bytes;
};

const note = (one: Note): Uint8Array => noteBytes(one);

type Case = readonly [string, Uint8Array, RegExp, UsdtElfOptions?];

const CASES: readonly Case[] = [
  ['another owner', note({ ...GOOD, name: 'stapsdx' }), /called "stapsdx" of type 3 is no probe/],
  ['another type', note({ ...GOOD, type: 2 }), /called "stapsdt" of type 2 is no probe/],
  ['an owner of control characters', note({ ...GOOD, name: '\x1b[2J' }), /"\\u001b\[2J"/],
  ['no description', note({ description: new Uint8Array() }), /a note of 0 bytes; 27/],
  ['two bytes of strings', note(withStrings('\0\0')), /a note of 26 bytes; 27/],
  ['a provider without end', note(withStrings('shopsale')), /its provider does not end/],
  ['a name without end', note(withStrings('shop\0sale')), /its name does not end \(shop:/],
  ['no name', note(withStrings('shop\0\0-4@%edi\0')), /it has no name \(shop:\)/],
  ['arguments without end', note(withStrings('shop\0sale\0-4@%edi')), /its arguments do not end/],
  ['address 0', note(withStrings('shop\0sale\0\0', { location: 0n })), /0x0 lies in no executable/],
  [
    'an address behind the code',
    note(withStrings('shop\0sale\0\0', { location: CODE_ADDRESS + 3n })),
    /0x401003 lies in no executable segment/,
  ],
  [
    'the highest address',
    note(withStrings('shop\0sale\0\0', { location: 2n ** 64n - 1n })),
    /0xffffffffffffffff lies in no executable segment/,
  ],
  [
    'a semaphore in code',
    note({ description: probeDescription({ ...AT, semaphore: CODE_ADDRESS }, 'shop\0sale\0\0') }),
    /its semaphore 0x401000 lies in no data segment/,
  ],
  [
    'a semaphore nowhere',
    note({ description: probeDescription({ ...AT, semaphore: 0xdeadn }, 'shop\0sale\0\0') }),
    /its semaphore 0xdead lies in no data segment/,
  ],
  [
    'a base that moves it out of the file',
    note({ description: probeDescription({ ...AT, base: 0x1000n }, 'shop\0sale\0\0') }),
    /its address 0x402000 lies in no executable segment/,
    { base: 0x2000n },
  ],
  [
    'a description past the section',
    resized(1, 0x1000),
    /note 2 of .* is longer than what is left/,
  ],
  ['a description of 4 GiB', resized(1, 0xffffffff), /note 2 of .* is longer than what is left/],
  ['a name of 4 GiB', resized(0, 0xffffffff), /note 2 of .* is longer than what is left/],
  ['half a header', Uint8Array.of(8, 0, 0, 0, 8, 0, 0, 0), /8 bytes at the end .* are no note/],
];

const read = (bytes: Uint8Array) => {
  const image = ElfImage.parse(bytes, '/broken');
  const { sites, broken } = usdtNotes(image);
  return { sites, problems: [...image.problems, ...broken.map(({ problem }) => problem)] };
};

describe('a broken note', () => {
  for (const [name, bytes, problem, options] of CASES)
    it(name, () => {
      const { sites, problems } = read(elfWithNotes(CODE, together(note(GOOD), bytes), options));
      expect(sites).toMatchObject([{ provider: 'shop', name: 'open', offset: 0x1000n }]);
      expect(problems).toEqual([expect.stringMatching(problem)]);
    });

  it('is told of when its whole section lies outside the file', () => {
    const { sites, problems } = read(elfWithNotes(CODE, note(GOOD), { size: 1 << 20 }));
    expect(sites).toEqual([]);
    expect(problems).toEqual(['section .note.stapsdt lies outside the file']);
  });
});

describe('programs with probes and random bytes changed', () => {
  it.each(['probes-gcc.elf', 'probes-clang.elf', 'sites-pie.elf'])(
    '%s: a list, or one clear error',
    (name) => {
      const original = readFileSync(join(import.meta.dirname, name));
      const headers = Number(original.readBigUInt64LE(40));
      const profile = requireProfile();
      const byte = fc.nat(255);
      const edit = fc.oneof(
        fc.tuple(fc.nat(64 + 56 * 6), byte),
        fc.tuple(fc.integer({ min: headers, max: original.length - 1 }), byte),
        fc.tuple(fc.nat(original.length - 1), byte),
      );
      fc.assert(
        fc.property(fc.array(edit, { minLength: 1, maxLength: 8 }), (edits) => {
          const bytes = Uint8Array.from(original);
          for (const [at, value] of edits) bytes[at] = value;
          try {
            const inspector = new ProgramInspector(bytes, '/changed');
            for (const { kind, name: found } of inspector.list(profile).slice(0, 2))
              inspector.explain(kind === 'usdt' ? `%${found}` : found, [profile]);
            inspector.problems();
          } catch (error) {
            if (!(error instanceof TraplineError)) throw error;
          }
        }),
        { numRuns: 300 },
      );
    },
  );
});

describe('prelink', () => {
  const siteAt = (base: bigint | undefined, noteBase: bigint) => {
    const one = { description: probeDescription({ ...AT, base: noteBase }, 'shop\0sale\0\0') };
    const options = base === undefined ? {} : { base };
    return usdtNotes(ElfImage.parse(elfWithNotes(CODE, note(one), options), '/x')).sites[0]
      ?.address;
  };

  it('moves a probe by what the section has moved, and only where both are known', () => {
    expect(siteAt(0x2001n, 0x2000n)).toBe(CODE_ADDRESS + 1n);
    expect(siteAt(0x2000n, 0x2000n)).toBe(CODE_ADDRESS);
    expect(siteAt(undefined, 0x2000n)).toBe(CODE_ADDRESS);
    expect(siteAt(0x2001n, 0n)).toBe(CODE_ADDRESS);
    expect(siteAt(0n, 0x2000n)).toBe(CODE_ADDRESS);
  });
});
