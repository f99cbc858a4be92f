import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalForm } from '../../src/index.ts';
import {
  CHECKOUT,
  goldenNames,
  goldensOf,
  isBuilt,
  otherReleases,
  readGolden,
} from '../helpers/fixtures.ts';
import { escaped, parseGolden } from './golden-file.ts';
import { normalRegisters, withoutAddresses } from './normal-form.ts';
import { unifiedDiff } from './unified-diff.ts';

const GOLDEN = `# trapline golden, format 1 (fixtures/README.md)
# kernel: Linux 6.18.44 x86_64
# program: fixtures/elf/x.elf
# arg: one two
# env: A=b=c
# flags: undefined
# stdin: a\\tb\\\\\\n
== probes
p:x/f @:f
== offsets
f 0x1f
== trace
f: (0x40001f)
== registers
f entry ax=1
== stdout
one\\n
two\\xff
== stderr
== profile
f 1
== end
signal 4
`;

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

describe('a golden', () => {
  const golden = parseGolden('x', GOLDEN);

  it('tells how to run the program', () => {
    expect(golden).toMatchObject({
      kernel: 'Linux 6.18.44 x86_64',
      program: 'fixtures/elf/x.elf',
      args: ['one two'],
      env: { A: 'b=c' },
      undefinedFlags: true,
      probes: ['p:x/f @:f'],
    });
    expect(textOf(golden.stdin)).toBe('a\tb\\\n');
  });

  it('tells what the kernel did', () => {
    expect(golden).toMatchObject({
      sites: [{ event: 'f', offset: 0x1fn }],
      trace: ['f: (0x40001f)'],
      registers: ['f entry ax=1'],
      profile: ['f 1'],
      end: 'signal 4',
    });
    expect(textOf(golden.stdout)).toBe('one\ntwo\xff');
    expect(golden.stderr).toHaveLength(0);
  });

  it('holds any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = GOLDEN.replace('one\\n\ntwo\\xff\n', () => `${escaped(bytes)}\n`);
        expect([...parseGolden('x', text).stdout]).toEqual([...bytes]);
      }),
    );
  });
});

describe('every golden of fixtures/traces', () => {
  it.each(goldenNames())('%s names its kernel and agrees with itself', (name) => {
    const golden = readGolden(name);
    expect(golden.kernel).toMatch(/^Linux 6\.18\.\d+ x86_64$/);
    expect(golden.sites).toHaveLength(golden.probes.length);
    if (!isBuilt(golden.program)) {
      const events = golden.trace.map((line) => line.slice(0, line.indexOf(':')));
      expect(golden.registers.map((line) => line.slice(0, line.indexOf(' ')))).toEqual(events);
    }
  });

  it.each(goldenNames())('%s has the probes of its case', (name) => {
    const text = readFileSync(join(CHECKOUT, 'fixtures', 'cases', `${name}.case`), 'utf8');
    const probes = text.split('\n').filter((line) => /^[pr](:\S*)? (@|\/)/.test(line));
    expect(readGolden(name).probes).toEqual(probes);
  });
});

describe.each(otherReleases())('every golden of Linux %s', (release) => {
  it.each(goldensOf(release).map((golden) => [golden.name, golden] as const))(
    '%s names that kernel and is of a case',
    (name, golden) => {
      expect(golden.kernel).toBe(`Linux ${release} x86_64`);
      expect(golden.sites).toHaveLength(golden.probes.length);
      expect(goldenNames()).toContain(basename(name));
    },
  );
});

describe('the normal form', () => {
  it('hides addresses from 0x7ff000000000 to the end of user space and no others', () => {
    expect(
      normalForm('f: (0x7ff000000000 <- 0x7fefffffffff) a=0x7fffffffffff b=0x800000000000'),
    ).toBe('f: (HIGH <- 0x7fefffffffff) a=HIGH b=0x800000000000');
    expect(normalForm('f: (0x401000) minus=0xffffffffffffffff')).toBe(
      'f: (0x401000) minus=0xffffffffffffffff',
    );
  });

  it('leaves out flags only where they are undefined', () => {
    const line = 'f entry ax=7fffffffe000 flags=2d7';
    expect(normalRegisters(line, false)).toBe('f entry ax=HIGH flags=2d7');
    expect(normalRegisters(line, true)).toBe('f entry ax=HIGH flags=203'); // SF ZF AF PF = 0xd4
  });

  it('leaves out addresses that depend on the compiler', () => {
    expect(withoutAddresses('f: (0x401000 <- 0x402000) a="(x)"')).toBe('f: (…) a="(x)"');
  });
});

describe('the difference', () => {
  it('is empty for equal texts', () => expect(unifiedDiff(['a', 'b'], ['a', 'b'])).toBe(''));

  it('shows what is missing, what is new, and what stands around', () => {
    expect(unifiedDiff(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe('at line 1:\n a\n-b\n+x\n c');
    expect(unifiedDiff(['a'], ['a', 'b'])).toBe('at line 1:\n a\n+b');
    expect(unifiedDiff(['a', 'b'], ['a'])).toBe('at line 1:\n a\n-b');
  });

  it('is cut', () => {
    const many = Array.from({ length: 100 }, (_, i) => `${i}`);
    expect(unifiedDiff(many, [], 2)).toBe('at line 1:\n-0\n-1\n… 98 lines more');
  });
});
