import { describe, expect, it } from 'vitest';
import { CAPABILITIES, LACKS } from '../../src/cpu/core/capabilities.ts';
import { rowOf } from '../../src/cpu/core/rows/index.ts';
import { Scanner } from '../../src/x86/decode.ts';
import { type Form, instructionForms } from '../../src/x86/forms.ts';

const forms = instructionForms();

const formsOf = (feature: string): Form[] =>
  forms.filter(({ features }) => features.includes(feature));

const without = (feature: string): string[] =>
  formsOf(feature)
    .filter((form) => rowOf(form) === undefined)
    .map(({ name }) => name);

describe('coverage of the core', () => {
  it.each(CAPABILITIES.extensions)('has every instruction of %s', (feature) => {
    expect(formsOf(feature).length).toBeGreaterThan(0);
    expect(without(feature)).toEqual([]);
  });

  it.each(LACKS)('does not have all of %s', (feature) => {
    expect(without(feature).length).toBeGreaterThan(0);
  });

  it('knows the same features as the decoder', () => {
    const scanner = new Scanner();
    scanner.open(Uint8Array.of(0xf3, 0x0f, 0xb8, 0xc1), 0n);
    scanner.next();
    expect(scanner.facts.features).toEqual(['POPCNT']);
  });
});
