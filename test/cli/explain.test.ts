import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectComplaint, jsonLines, PROGRAM, temporaryDirectory, trapline } from './cli.ts';

const explain = (...args: string[]) => {
  const outcome = trapline(['explain', '--json', ...args]);
  expect(outcome.stderr).toBe('');
  expect(outcome.status).toBe(0);
  return jsonLines(outcome.stdout);
};

describe('trapline explain --bytes', () => {
  // Verdicts of Linux 6.18.44: the oracle's sweep and spec 3.3, 3.5 and 5.1.
  it.each<[string, Record<string, unknown>]>([
    ['0f1f440000', { length: 5, verdict: 'emulate', errno: null, optimisable: true, xol: null }],
    ['0f1f440000cc', { length: 5, verdict: 'emulate', bytes: '0f1f440000cc' }],
    ['55', { length: 1, verdict: 'emulate', optimisable: false, text: 'push %rbp' }],
    ['4889e5', { length: 3, verdict: 'step', xol: '4889e5', scratch: null }],
    // mov 0x10(%rip),%rax: modrm 00.000.101 becomes 10.000.110, (%rsi) with the same displacement.
    ['488b0510000000', { length: 7, verdict: 'step', xol: '488b8610000000', scratch: 'si' }],
    ['f00fb111', { verdict: 'refuse', errno: 'ENOTSUPP', xol: null, optimisable: false }],
    ['8f08', { verdict: 'refuse', errno: 'ENOEXEC', length: null }],
  ])('%s', (bytes, expected) => {
    expect(explain('--kernel', 'k6.18', '--bytes', bytes)).toMatchObject([
      { bytes, reason: expect.any(String), text: expect.any(String), ...expected },
    ]);
  });

  it('names errno by name and number, and what would work', () => {
    const { stdout } = trapline([
      'explain',
      '--kernel',
      'k6.18',
      '--bytes',
      '662e0f1f840000000000',
    ]);
    expect(stdout).toMatch(/refuse +ENOTSUPP \(524\): .*0x2e.*; attach at \+/);
  });

  it('reads a file, one instruction a line', () => {
    const file = join(temporaryDirectory(), 'bytes.txt');
    writeFileSync(file, '55\n\n0f 1f 44 00 00\r\n8f08\n');
    expect(explain('--bytes-file', file).map(({ bytes }) => bytes)).toEqual([
      '55',
      '0f1f440000',
      '8f08',
    ]);
    const { stdout } = trapline(['explain', '--bytes-file', file]);
    expect(stdout).toMatch(/^55 +emulate +push %rbp +# push of a register/m);
    expect(stdout.split('\n')).toHaveLength(4);
  });

  it('reads stdin', () => {
    const { stdout } = trapline(['explain', '--json', '--bytes-file', '-'], { input: '90\n' });
    expect(jsonLines(stdout)).toMatchObject([{ bytes: '90', verdict: 'emulate' }]);
  });

  it('names the line that is no instruction', () => {
    const file = join(temporaryDirectory(), 'bytes.txt');
    writeFileSync(file, '55\nzz\n');
    expectComplaint(trapline(['explain', '--bytes-file', file]), 2, /line 2: "zz" is no instruct/);
    expectComplaint(trapline(['explain', '--bytes-file', '/gone']), 125, /\/gone: no such file/);
  });
});

describe('trapline explain PROGRAM:SITE', () => {
  it('shows a site under every profile, equal ones together', () => {
    const { status, stdout } = trapline(['explain', `${PROGRAM}:site`]);
    expect(status).toBe(0);
    expect(stdout).toContain('file offset 0x1076, address 0x401076\n  90  nop\n');
    // A nop is emulated by all of them; the return trampoline is int3, then system call 335, since
    // 6.16 with an int3 behind it (spec section 1.2).
    expect(stdout).toContain('\nk6.10 k6.11 k6.14 k6.16 k6.18 k7.1 k7.1.5 k7.3\n  emulate ');
    for (const equal of ['k6.10', 'k6.11 k6.14', 'k6.16 k6.18 k7.1 k7.1.5 k7.3'])
      expect(stdout).toContain(`returns to, under ${equal}\n`);
  });

  it('takes every site of a USDT probe', () => {
    // usdt.S: %shop:sale stands at two places.
    const found = explain(`${join(import.meta.dirname, 'usdt.elf')}:%shop:sale`);
    expect(found.map(({ offset }) => offset)).toEqual(['0x1005', '0x100b']);
    expectComplaint(trapline(['explain', `${PROGRAM}:%no:such`]), 125, /has no USDT probe no:such/);
  });

  it('takes offsets and symbols', () => {
    // `func` is a RIP-relative lea of 7 bytes, then ret.
    const byOffset = explain(`${PROGRAM}:0x10b7`, '--kernel', 'k6.18');
    const place = ([{ kind, steps, ...rest } = {}]: ReturnType<typeof explain>) => rest;
    const bySymbol = explain(`${PROGRAM}:func+7`, '--kernel', 'k6.18');
    expect(place(bySymbol)).toEqual(place(byOffset));
    expect(byOffset).toMatchObject([
      {
        v: 1,
        type: 'site',
        offset: '0x10b7',
        address: '0x4010b7',
        text: 'ret',
        profiles: [{ profile: 'k6.18', verdict: 'step', length: 1, slotText: 'ret' }],
      },
    ]);
  });

  it('says when there is no such place', () => {
    expectComplaint(trapline(['explain', `${PROGRAM}:gone`]), 125, /has no function gone/);
    expectComplaint(trapline(['explain', `${PROGRAM}:0xffffff`]), 125, /has no place 0xffffff/);
  });
});
