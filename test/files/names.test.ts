import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameForPeople, nameFromBytes, nameToBytes } from '../../src/kernel/files/names.ts';

describe('names', () => {
  it('bring every byte string back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ max: 255 }), (bytes) => {
        expect(nameToBytes(nameFromBytes(bytes))).toEqual(bytes);
      }),
    );
  });

  it('are the text itself where they are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const bytes = new TextEncoder().encode(text);
        expect(nameFromBytes(bytes)).toBe(text);
        expect(nameToBytes(text)).toEqual(bytes);
      }),
    );
  });

  it('keep a byte order mark', () => {
    expect(nameFromBytes(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  });

  it('keep what looks like a surrogate half in UTF-8 as three bytes', () => {
    // ED B2 80 would decode to U+DC80, which UTF-8 forbids (RFC 3629, section 3).
    expect(nameFromBytes(Uint8Array.of(0xed, 0xb2, 0x80))).toBe('\udced\udcb2\udc80');
  });

  it('are shown to people without lone surrogates', () => {
    expect(nameForPeople(nameFromBytes(Uint8Array.of(0x61, 0xff)))).toBe('a\ufffd');
    expect(nameForPeople('😀')).toBe('😀');
  });
});
