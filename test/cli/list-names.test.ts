/** What `list` and `explain` make of names: mangled, chosen at load time, hostile; and of USDT sites. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missing } from '../helpers/requirements.ts';
import { jsonLines, temporaryDirectory, trapline } from './cli.ts';

const NAMES = join(import.meta.dirname, 'names');
const SYMBOLS = join(import.meta.dirname, '../elf/goldens/symbols.so');
const USDT = join(import.meta.dirname, '../consumers/usdt');

/** Mangled name and what c++filt makes of it. */
const FILTERED = readFileSync(join(NAMES, 'names.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);

interface Listed {
  readonly name: string;
  readonly demangled: string | null;
  readonly kind: string;
}

const listed = (...args: string[]): { problems: string[]; probeable: Listed[] } =>
  jsonLines(trapline(['list', '--json', ...args]).stdout)[0] as ReturnType<typeof listed>;

/** symbols.so with one symbol's name overwritten by another of the same length. */
const renamed = (name: string): string => {
  const bytes = readFileSync(SYMBOLS);
  for (let at = bytes.indexOf('exported\0'); at >= 0; at = bytes.indexOf('exported\0', at + 1))
    bytes.write(name, at, 'latin1');
  const file = join(temporaryDirectory(), 'renamed.so');
  writeFileSync(file, bytes);
  return file;
};

describe('C++ names', () => {
  it('are shown as c++filt shows them', () => {
    const found = new Map(
      listed(join(NAMES, 'names.so')).probeable.map((one) => [one.name, one.demangled ?? one.name]),
    );
    expect([...found].sort()).toEqual(FILTERED.map(([name, text]) => [name, text]).sort());
    const { stdout } = trapline(['list', join(NAMES, 'names.so')]);
    expect(stdout).toContain(' shop::sum(shop::Price const*, unsigned long, ...) ');
  });

  it('are left alone by --no-demangle', () => {
    const { stdout } = trapline(['list', '--no-demangle', join(NAMES, 'names.so')]);
    expect(stdout).toContain(' _ZN4shop6chooseEb ');
    expect(stdout).not.toContain('shop::');
  });
});

describe('an IFUNC', () => {
  it('is marked by list and explain', () => {
    const { stdout } = trapline(['list', SYMBOLS]);
    expect(stdout).toMatch(/ chosen .*# IFUNC: only chooses the function that callers get$/m);
    expect(stdout).toMatch(/ label .*# label without type$/m);
    expect(stdout).not.toMatch(/ exported .*#/);
    const explained = trapline(['explain', '--kernel', 'k6.18', `${SYMBOLS}:chosen`]).stdout;
    expect(explained).toMatch(/this is an IFUNC/);
    expect(trapline(['explain', `${SYMBOLS}:exported`]).stdout).not.toMatch(/IFUNC/);
  });
});

describe('a hostile name', () => {
  // ESC ] 0 ; … sets the title of a terminal; 0x9b is CSI in eight bits, here as UTF-8.
  it.each([
    ['\x1b]0;pwn\x07', '\\x1b]0;pwn\\x07'],
    ['\xc2\x9b2Jabcd', '\\x9b2Jabcd'],
    ['a\nb\tc\rd\x7f', 'a\\x0ab\\x09c\\x0dd\\x7f'],
  ])('reaches no terminal: %j', (name, shown) => {
    const file = renamed(name);
    const text = trapline(['list', file]).stdout;
    expect(text).toContain(` ${shown} `);
    const json = trapline(['list', '--json', file]).stdout;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    for (const out of [text, json]) expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });
});

describe('explain --explain-offset', () => {
  it('shows the arithmetic', () => {
    // lld put its code segment at offset 0x160 and address 0x201160 (readelf -l).
    const path = `${join(USDT, 'probes-clang.elf')}:%test:usdt0`;
    const { stdout } = trapline(['explain', '--explain-offset', '--kernel', 'k6.18', path]);
    expect(stdout).toMatch(
      /^ {2}note +location 0x2011b0, \.stapsdt\.base 0x\w+, semaphore 0x\w+$/m,
    );
    expect(stdout).toMatch(/^ {2}offset +0x2011b0 - 0x201160 \+ 0x160 = 0x1b0$/m);
    expect(stdout).toMatch(/^ {2}semaphore 0x\w+ - 0x\w+ \+ 0x\w+ = 0x\w+$/m);
  });

  it('needs a site', () => {
    const { status, stderr } = trapline(['explain', '--explain-offset', '--bytes', '90']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/goes with PROGRAM:SITE/);
  });
});

describe('list --usdt', () => {
  it('shows sites, semaphores, arguments and what they mean, and nothing else', () => {
    const { stdout } = trapline(['list', '--usdt', join(USDT, 'sites.elf')]);
    expect(stdout).toMatch(/^OFFSET +ADDRESS +SEMAPHORE +VERDICT +NAME +INSTRUCTION\n/);
    expect(stdout).toMatch(
      / - +emulate +%form:sib +nop\n {2}arg0 -2@\(%rdx,%rcx,2\) +s16 \[rdx\+rcx\*2\]\n/,
    );
    expect(stdout).not.toMatch(/ operands /);
    const probes = trapline(['list', '--usdt', join(USDT, 'probes-gcc.elf')]).stdout;
    expect(probes).toMatch(/ 0x2022 +emulate +%test:usdt3 +nop\n/);
    expect(trapline(['list', '--usdt', SYMBOLS]).stdout).toMatch(/symbols\.so: no USDT sites\n/);
  });

  it.each([
    ['k6.16', []],
    ['k6.18', ['0x1061']],
    ['k7.3', ['0x1081']],
  ])('%s: names the long nop that libbpf takes', (kernel, places) => {
    const { stdout } = trapline(['list', '--usdt', '--kernel', kernel, join(USDT, 'sites.elf')]);
    const combos = stdout.slice(0, stdout.indexOf('%form:'));
    const found = [...combos.matchAll(/libbpf attaches at (0x\w+)/g)].map(([, place]) => place);
    expect(found).toEqual(places);
  });

  it('tells of a broken note and lists the rest', () => {
    const bytes = readFileSync(join(USDT, 'probes-gcc.elf'));
    // The probe's address, right behind the note's name.
    bytes.writeBigUInt64LE(0n, bytes.indexOf('stapsdt\0') + 8);
    const file = join(temporaryDirectory(), 'broken.elf');
    writeFileSync(file, bytes);
    const { status, stdout, stderr } = trapline(['list', '--usdt', file]);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^trapline: .*: USDT probe test:usdt0: its address 0x0 lies in no .*; left out\n$/,
    );
    expect(stdout.match(/%test:usdt0/g)).toHaveLength(1);
    expect(stdout.match(/%test:usdt12/g)).toHaveLength(2);
  });
});

describe('this machine’s <sys/sdt.h>', () => {
  it('gives notes that list and run understand', (ctx) => {
    const need = missing('gcc') ?? missing('sys/sdt.h');
    if (need !== null) return ctx.skip(need);
    const program = join(temporaryDirectory(), 'probes');
    const flags = ['-O2', '-nostdlib', '-static', '-ffreestanding', '-fno-stack-protector'];
    const source = join(USDT, 'probes.c');
    const { status, stderr } = spawnSync('gcc', [...flags, '-o', program, source], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { stdout } = trapline(['list', '--usdt', program]);
    expect(stdout.match(/%test:usdt\d+/g)).toHaveLength(6);
    expect(stdout).not.toMatch(/ \? /);
    const run = trapline(['run', '--profile', '-p', 'p:twelve @:%test:usdt12', program]);
    expect(run.status).toBe(0);
    expect(run.stderr.match(/ twelve: \(0x\w+\)$/gm)).toHaveLength(8);
  });
});
