import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { execTableOf } from '../helpers/conform/golden.ts';
import { expectComplaint, jsonLines, temporaryDirectory, trapline } from './cli.ts';

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const goldens = join(import.meta.dirname, '../goldens');
const golden = (name: string): string => readFileSync(join(goldens, name), 'utf8');

const written = (name: string, table: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, typeof table === 'string' ? table : JSON.stringify(table));
  return path;
};

const recorded = execTableOf(golden('insn-exec-6.18.44.txt'));
const named = (...names: string[]) => recorded.cases.filter(({ name }) => names.includes(name));
const execTable = (...names: string[]) => ({ ...recorded, cases: named(...names) });

/** `accept-sweep.json`'s form. */
const acceptance = golden('accept-6.18.44.txt')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '))
  .map(([name = '', bytes = '', result]) => ({
    name,
    bytes: bytes.padEnd(32, '0'),
    result,
    byte_after: result === 'ok' ? 'cc' : bytes.slice(0, 2).padEnd(2, '0'),
  }));

/** `insn-table.json`'s form, as far as it is read. */
const verdicts = recorded.cases.map(({ name, bytes, errno, how, optimised }) => ({
  name,
  bytes,
  accepted: errno === 'ok',
  errno,
  how,
  optimised,
  // The one store that faults at the instruction itself (its stack is the guard page).
  plain: name === 'call_badstack' ? { signal: 11, rip_off: 0 } : { signal: 0, rip_off: null },
}));

const OVER_TEXT = { name: 'm', addr: '0x402000', size: 4096, perm: 'rw', init: '0x00' };

describe('conform tells the three kinds of tables apart by what they hold', () => {
  it('execution', () => {
    const { status, stdout } = trapline([
      'conform',
      written('e', execTable('nop5', 'push_r8', 'int3')),
    ]);
    expect([status, stdout]).toEqual([0, 'AGREE 3/3\n']);
  });

  it('verdicts', () => {
    const { status, stdout } = trapline(['conform', written('v', verdicts)]);
    expect([status, stdout]).toEqual([0, 'AGREE 285/285\n']);
  });

  it('acceptance, from stdin', () => {
    const { status, stdout } = trapline(['conform', '-'], { input: JSON.stringify(acceptance) });
    expect([status, stdout]).toEqual([0, 'AGREE 1688/1688\n']);
  });
});

describe('conform finds what is wrong', () => {
  const [nop5] = named('nop5') as unknown as [Record<string, Record<string, unknown>>];
  const changed = (run: string, change: Record<string, unknown>) => ({
    ...recorded,
    cases: [{ ...nop5, [run]: { ...nop5[run], ...change } }],
  });

  it.each([
    ['a flag', 'plain', { flags: '0x296' }, 'nop5 plain flags: expected 0x296, got 0x297'],
    ['a hit', 'probed', { hits: 2 }, 'nop5 probed hits: expected 2, got 1'],
    [
      'memory',
      'probed_x3',
      { mem: [] },
      /^nop5 probed_x3 mem: expected unchanged, got 0x4c07e0:ef/,
    ],
    [
      'k1',
      'plain',
      { mem: [['0x4c1000', '00']] },
      /^nop5 plain mem: expected 0x4c1000:00, got unchanged$/,
    ],
    ['the end', 'plain', { end: 'cap1' }, 'nop5 plain end: expected cap1, got cap0'],
  ])('%s', (name, run, change, line) => {
    const { status, stdout } = trapline(['conform', written(name, changed(run, change))]);
    const [first, ...rest] = stdout.trimEnd().split('\n');
    if (typeof line === 'string') expect(first).toBe(line);
    else expect(first).toMatch(line);
    expect(rest).toEqual(['AGREE 0/1']);
    expect(status).toBe(1);
  });

  it('another kernel: 7.3 emulates what 6.18 refuses', () => {
    const path = written('nop10', execTable('nop10_cs'));
    expect(trapline(['conform', path])).toMatchObject({ status: 0, stdout: 'AGREE 1/1\n' });
    const table = written(
      'nop10s',
      verdicts.filter(({ name }) => name === 'nop10_cs'),
    );
    const { status, stdout } = trapline(['conform', '--kernel', 'k7.3', table]);
    expect(stdout).toContain('nop10_cs analysis errno: expected ENOTSUPP, got ok\n');
    expect(status).toBe(1);
  });

  it('as JSON lines', () => {
    const { stdout } = trapline([
      'conform',
      '--json',
      written('j', changed('plain', { flags: '0x1' })),
    ]);
    expect(jsonLines(stdout)).toEqual([
      {
        v: 1,
        type: 'difference',
        case: 'nop5',
        in: 'plain',
        what: 'flags',
        expected: '0x1',
        got: '0x297',
      },
      { v: 1, type: 'summary', agree: 0, ran: 1, not_run: 0, reasons: {}, partial: {} },
    ]);
  });
});

describe('conform counts what the engine cannot run', () => {
  it('by reason, and still agrees', () => {
    const path = written('n', execTable('nop5', 'vaddps_x', 'vaddps_y', 'popcnt'));
    const { status, stdout, stderr } = trapline(['conform', path]);
    expect([status, stdout, stderr]).toEqual([
      0,
      'AGREE 1/1, 3 not run (no AVX: 2, no POPCNT: 1)\n',
      '',
    ]);
  });

  it('and fails where nothing ran', () => {
    const { status, stdout } = trapline(['conform', written('o', execTable('popcnt'))]);
    expect([status, stdout]).toEqual([1, 'AGREE 0/0, 1 not run (no POPCNT: 1)\n']);
  });

  it('a case whose probed run never executes the instruction still runs', () => {
    // vpsubsb: its opcode byte E8 is taken for a call.
    const { status, stdout, stderr } = trapline(['conform', written('p', execTable('vpsubsb_e8'))]);
    expect([status, stdout]).toEqual([0, 'AGREE 1/1\n']);
    expect(stderr).toBe('trapline: of cases that ran, these runs are missing: no AVX: 1\n');
  });
});

describe('a table that cannot be used is one line and status 125', () => {
  it.each([
    ['empty', '', /no JSON/],
    ['no head', { ...recorded, flags: undefined }, /\.flags: a string is expected, not nothing/],
    ['overlap', { ...execTable('nop5'), regions: [OVER_TEXT] }, /0x402000 cannot be had: EEXIST/],
  ])('%s', (name, table, message) => {
    expectComplaint(trapline(['conform', written(`broken ${name}`, table)]), 125, message);
  });

  it('as is one that cannot be read', () => {
    expectComplaint(
      trapline(['conform', join(directory, 'nowhere')]),
      125,
      /nowhere: no such file/,
    );
    expectComplaint(trapline(['conform', directory]), 125, /directory/);
  });

  it('and a wrong command line is status 2', () => {
    expectComplaint(trapline(['conform']), 2, /missing required argument/);
    const kernel = trapline(['conform', '--kernel', 'k9', written('w', verdicts)]);
    expectComplaint(kernel, 2, /no kernel profile k9/);
  });
});
