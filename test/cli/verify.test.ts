import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differencesOf } from '../../src/cli/verify/differences.ts';
import type { Observed } from '../../src/cli/verify/emulated-run.ts';
import { profileOfRelease } from '../../src/index.ts';
import { missing } from '../helpers/requirements.ts';
import { expectComplaint, jsonLines, trapline } from './cli.ts';

const CALC = join(import.meta.dirname, '../../demo/calc.elf');
const NOBODY = 65534;

describe('verify', () => {
  it('says that it needs root', () => {
    const outcome = trapline(['verify', CALC], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    expectComplaint(outcome, 125, /verify cannot run here: probing a real kernel needs root/);
  });

  it('says that a kernel that has oopsed proves nothing', (ctx) => {
    const oopsed = (Number(readFileSync('/proc/sys/kernel/tainted', 'utf8')) & 0x80) !== 0;
    if (!oopsed || process.getuid?.() !== 0) return ctx.skip('needs a kernel that has oopsed');
    expectComplaint(trapline(['verify', CALC]), 125, /has oopsed.*reboot/);
  });

  const here = missing('kernel 6.18 as root');

  it('finds this machine’s kernel and ours equal', (ctx) => {
    if (here !== null) return ctx.skip(here);
    const probes = ['-p', 'p:f @:factorial n=%di', '-p', 'r:r @:factorial v=$retval'];
    const outcome = trapline(['verify', ...probes, CALC, '5!'], { input: '' });
    expect([outcome.status, outcome.stdout, outcome.stderr]).toEqual([0, '', '']);
    expect(readFileSync('/sys/kernel/tracing/uprobe_events', 'utf8')).not.toContain('verify');
  });

  it('says in JSON that they are equal', (ctx) => {
    if (here !== null) return ctx.skip(here);
    const probes = ['-p', 'p:f @:factorial n=%di'];
    const { status, stdout } = trapline(['verify', '--json', ...probes, CALC, '5!'], { input: '' });
    expect([status, jsonLines(stdout)]).toMatchObject([
      0,
      [{ type: 'verify', equal: true, differences: [] }],
    ]);
  });

  it('keeps to the rules of the running kernel', (ctx) => {
    if (here !== null) return ctx.skip(here);
    const outcome = trapline(['verify', '--kernel', 'k6.10', CALC], { input: '' });
    expectComplaint(outcome, 2, /--kernel k6\.10 is not this machine's kernel/);
  });
});

describe('the differences of two runs', () => {
  const run: Observed = {
    trace: ['f: (0x401000) a=1', 'f: (0x401000) a=2'],
    stdout: 'one\n',
    stderr: '',
    end: 'status 0',
    hits: ['f 2'],
  };

  it('are none between equal ones, wherever the kernel put things', () => {
    const at = (address: string): Observed => ({ ...run, trace: [`f: (0x401000) a=${address}`] });
    expect(differencesOf(at('0x7ffff7fc1000'), at('0x7ff000001000'))).toEqual([]);
  });

  it('are unified diffs, the kernel’s lines as -, ours as +', () => {
    const ours = { ...run, trace: ['f: (0x401000) a=1', 'f: (0x401000) a=3'], end: 'status 1' };
    expect(differencesOf(run, ours)).toEqual([
      {
        section: 'trace',
        diff: [
          '--- kernel/trace',
          '+++ trapline/trace',
          '@@ -1,2 +1,2 @@',
          ' f: (0x401000) a=1',
          '-f: (0x401000) a=2',
          '+f: (0x401000) a=3',
          '',
        ].join('\n'),
      },
      {
        section: 'end',
        diff: '--- kernel/end\n+++ trapline/end\n@@ -1,1 +1,1 @@\n-status 0\n+status 1\n',
      },
    ]);
  });

  it('are the first line alone where nearly all differ', () => {
    const lines = (text: string): string[] => Array.from({ length: 9000 }, (_, i) => `${text}${i}`);
    const [found] = differencesOf(
      { ...run, trace: ['same', ...lines('a')] },
      { ...run, trace: ['same', ...lines('b')] },
    );
    expect(found?.diff).toMatch(/^more than 5000 lines differ, from line 2 on\n$/);
  });
});

describe('the profile of a release', () => {
  it.each([
    ['6.18.44-fc-v782', 'k6.18'],
    ['6.18.0', 'k6.18'],
    ['6.17.13', 'k6.16'],
    ['6.10.1', 'k6.10'],
    ['7.1.4', 'k7.1'],
    ['7.1.5', 'k7.1.5'],
    ['7.2.0-rc3', 'k7.1.5'],
    ['7.3.4+deb13-cloud-amd64', 'k7.3'],
    ['8.0', 'k7.3'],
    ['6.9.12', undefined],
    ['5.10.0-28-amd64', undefined],
    ['custom', undefined],
  ])('%s is %s', (release, name) => {
    expect(profileOfRelease(release)?.name).toBe(name);
  });
});
