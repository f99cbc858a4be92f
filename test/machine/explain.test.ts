import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgramInspector, requireProfile } from '../../src/index.ts';

const path = join(import.meta.dirname, '../../fixtures/elf/nops.elf');
const inspector = new ProgramInspector(readFileSync(path), path);

/** The function of nops.S whose first instruction is a nop of that many bytes. */
const nopOf = (bytes: string) => {
  const found = inspector
    .list(requireProfile('k7.3'))
    .find(({ offset }) =>
      inspector.explain(`0x${offset.toString(16)}`)[0]?.bytes.startsWith(bytes),
    );
  if (found === undefined) throw new Error(`nops.elf has no function that begins ${bytes}`);
  return `0x${found.offset.toString(16)}`;
};

describe('ProgramInspector', () => {
  // Bytes as the real 6.18 kernel's pages had them (spec sections 4.5 and 5.2, confirmed by dump).
  it('shows the trampoline of an optimised nop5 under k6.18, none under k7.3', () => {
    const [site] = inspector.explain(nopOf('0f1f440000'), [
      requireProfile('k6.18'),
      requireProfile('k7.3'),
    ]);
    const [nop5, nop10] = site?.profiles ?? [];
    expect(nop5?.trampoline?.map(({ bytes }) => bytes).join('')).toBe(
      '5141535048c7c0500100000f0558415b59c3cc',
    );
    expect(nop10?.trampoline).toBeNull();
    expect(site?.returns[0]?.code.map(({ bytes }) => bytes).join('')).toBe(
      '5051415348c7c04f0100000f05415b59c3cc',
    );
  });

  it('lists functions with their first instruction, lower-case as objdump prints it', () => {
    const texts = inspector.list(requireProfile('k6.18')).map(({ instruction }) => instruction);
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.join()).not.toMatch(/0x[0-9a-f]*[A-F]/);
  });
});
