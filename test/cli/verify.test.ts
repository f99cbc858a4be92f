import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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

  it('shows a difference as a unified diff, and in JSON', (ctx) => {
    if (here !== null) return ctx.skip(here);
    // The number of the thread is the kernel's choice.
    const probes = ['-p', 'p:f @:factorial n=$stack8'];
    const { status, stdout } = trapline(['verify', '--json', ...probes, CALC, '5!'], { input: '' });
    expect(jsonLines(stdout)).toMatchObject([{ type: 'verify', equal: status === 0 }]);
  });

  it('keeps to the rules of the running kernel', (ctx) => {
    if (here !== null) return ctx.skip(here);
    const outcome = trapline(['verify', '--kernel', 'k6.10', CALC], { input: '' });
    expectComplaint(outcome, 2, /--kernel k6\.10 is not this machine's kernel/);
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
