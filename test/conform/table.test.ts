/** Tables that are not in one of the three forms: the message names the place. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TraplineError } from '../../src/base/errors.ts';
import { readTable } from '../../src/conform/index.ts';
import { execTableOf } from '../helpers/conform/golden.ts';

const golden = join(import.meta.dirname, '../goldens/insn-exec-6.18.44.txt');
const recorded = execTableOf(readFileSync(golden, 'utf8'));
const nop5 = recorded.cases.find(({ name }) => name === 'nop5')!;

/** The error's message; a table that can be read fails the test. */
const complaint = (table: unknown): string => {
  try {
    readTable(typeof table === 'string' ? table : JSON.stringify(table), 'T');
  } catch (error) {
    if (error instanceof TraplineError && error.code === 'bad-table') return error.message;
    throw error;
  }
  return 'no complaint';
};

describe('a broken table is refused with its place', () => {
  const without = (key: string) => {
    const { [key]: _, ...rest } = recorded;
    return rest;
  };
  const withCase = (change: Record<string, unknown>) => ({
    ...recorded,
    cases: [nop5, { ...nop5, ...change }],
  });
  const region = (change: Record<string, unknown>) => ({
    ...recorded,
    cases: [nop5],
    regions: [{ name: 'm', addr: '0x4c1000', size: 4096, perm: 'rw', init: '0x00', ...change }],
  });

  it.each([
    ['empty', '', /no JSON/],
    ['cut off', JSON.stringify(recorded).slice(0, 5000), /no JSON/],
    ['a number', '7', /an array is expected, not 7/],
    ['null', 'null', /an array is expected, not null/],
    ['no cases', [], /holds no cases/],
    ['empty cases', { ...recorded, cases: [] }, /holds no cases/],
    ['numbers', [1, 2], /T\[0\]: an object is expected, not 1/],
    ['no head', without('flags'), /\.flags: a string is expected, not nothing/],
    ['no regions', without('regions'), /\.regions: an array is expected/],
    ['odd vectors', { ...recorded, vectors: 'all zero' }, /\.vectors: a rule such as/],
    ['odd hex', withCase({ code: 'zz' }), /\.cases\[1\]\.code: bytes in hex/],
    [
      'odd register',
      withCase({ regs: { ax: '12' } }),
      /\.cases\[1\]\.regs\.ax: a number of up to 64/,
    ],
    ['wide register', withCase({ entry: `0x1${'0'.repeat(16)}` }), /\.cases\[1\]\.entry: a number/],
    [
      'site outside',
      withCase({ site: '0x1000' }),
      /\.cases\[1\]\.site: an address inside the code/,
    ],
    ['odd run', withCase({ plain: [] }), /\.cases\[1\]\.plain: an object is expected/],
    [
      'odd memory',
      withCase({ plain: { ...(nop5 as never as { plain: object }).plain, mem: [['0x1']] } }),
      /\.mem\[0\]: an address and its bytes/,
    ],
    ['odd how', withCase({ how: 'guessed' }), /\.how: "emulated" or "xol" is expected/],
    ['odd rule', region({ init: 'random' }), /\.regions\[0\]\.init: a rule for initial bytes/],
    ['odd size', region({ size: 100 }), /\.size: a positive multiple of 4096/],
    ['odd rights', region({ perm: 'w' }), /\.perm: none, r, rw, rx or rwx/],
    ['rights of a prototype', region({ perm: 'constructor' }), /\.perm: none, r, rw, rx or rwx/],
    [
      'huge size',
      region({ size: 2 ** 31 }),
      /\.size: a positive multiple of 4096, at most 16777216/,
    ],
    [
      'patch across the end',
      region({ init: 'zero; 8 bytes at +4089 = 1' }),
      /\.init: a rule for initial bytes in the region/,
    ],
    [
      'far too many vectors',
      { ...recorded, vectors: 'ymm0..99999999999 = 128 bytes, byte i = (7*i+1) mod 256' },
      /\.vectors: a rule such as/,
    ],
    ['deep nesting', `[${'['.repeat(20_000)}${']'.repeat(20_000)}]`, /T\[0\].* not an array/],
    ['a byte order mark only', '\ufeff', /no JSON/],
    ['half a verdict', [{ name: 'x', bytes: '90' }], /\[0\]\.accepted: true or false is expected/],
  ])('%s', (_, table, message) => {
    const text = complaint(table);
    expect(text).toMatch(message);
    expect(text).not.toContain('\n');
  });
});
