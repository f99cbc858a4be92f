import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectComplaint, PROGRAM, trapline } from './cli.ts';

describe('a wrong command line is one line and status 2', () => {
  it.each<[string, string[], RegExp]>([
    ['no command', [], /no command given/],
    ['an unknown command', ['frobnicate'], /unknown command 'frobnicate'/],
    ['more workers than a machine has', ['fuzz', '--jobs', '100000'], /--jobs takes at most 256/],
    ['an unknown option', ['run', '--frob', 'x'], /unknown option '--frob'/],
    ['a misspelt option', ['run', '--outptu', 'x'], /Did you mean --output\?/],
    ['no program', ['run'], /missing required argument 'program'/],
    ['an option without its value', ['run', '-p'], /argument missing/],
    ['an unknown engine', ['run', '--engine', 'qemu', PROGRAM], /qemu.*auto, unicorn/],
    ['an unknown profile', ['run', '--kernel', 'k9', PROGRAM], /no kernel profile k9; .*k6\.10/],
    ['an unknown format', ['run', '--format', 'xml', PROGRAM], /xml.*text, json/],
    ['a seed that is no number', ['run', '--seed', 'x', PROGRAM], /--seed takes a whole number/],
    ['a seed too large', ['run', '--seed', `${1n << 64n}`, PROGRAM], /--seed takes a number below/],
    ['no instructions', ['run', '--max-instructions', '0', PROGRAM], /--max-instructions takes/],
    ['half an instruction', ['run', '--max-instructions', '1.5', PROGRAM], /takes a whole number/],
    ['no time', ['run', '--timeout', '0', PROGRAM], /--timeout takes seconds/],
    ['a time that is no number', ['run', '--timeout', '1h', PROGRAM], /--timeout takes seconds/],
    ['a variable without value', ['run', '--env', 'HOME', PROGRAM], /--env takes NAME=VALUE/],
    ['a mount without place', ['run', '--mount', '/tmp', PROGRAM], /--mount takes HOST:GUEST/],
    ['a mount at no absolute place', ['run', '--mount', '/tmp:x', PROGRAM], /absolute GUEST/],
    ['explain without anything', ['explain'], /either PROGRAM:SITE or --bytes/],
    ['explain with both', ['explain', 'x:1', '--bytes', '90'], /either PROGRAM:SITE or --bytes/],
    ['explain without a site', ['explain', PROGRAM], /is not PROGRAM:SITE/],
    ['bytes that are no hex', ['explain', '--bytes', 'xy'], /"xy" is no instruction in hex/],
    ['bytes that are half a byte', ['explain', '--bytes', '123'], /"123" is no instruction/],
    ['empty bytes', ['explain', '--bytes', ''], /"" is no instruction/],
    ['one profile to compare', ['profiles', '--diff', 'k6.18'], /--diff takes two profiles/],
    ['an unknown one to compare', ['profiles', '--diff', 'k6.18', 'k1'], /no kernel profile k1/],
    ['too many arguments', ['list', 'a', 'b'], /too many arguments/],
    ['help with nothing', ['help', 'frob'], /no command frob/],
  ])('%s', (_name, args, message) => {
    expectComplaint(trapline(args), 2, message);
  });
});

describe('help', () => {
  it('is on stdout, with status 0', () => {
    for (const args of [['--help'], ['help'], ['run', '-h'], ['help', 'list']]) {
      const { status, stdout, stderr } = trapline(args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: trapline/);
    }
  });

  it('has examples for every command', () => {
    for (const command of ['run', 'list', 'explain', 'profiles', 'conform', 'fuzz'])
      expect(trapline([command, '--help']).stdout).toMatch(/Examples?:\n {2}trapline /);
  });

  it('tells the version', () => {
    expect(trapline(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('control characters', () => {
  it('of names never reach the terminal', () => {
    // ESC [ 31m would turn the terminal red.
    const { stderr } = trapline(['list', 'a\x1b[31mb\x07\x9b']);
    expect(stderr).toBe('trapline: cannot read a\\x1b[31mb\\x07\\x9b: no such file (ENOENT)\n');
  });
});

describe('what was asked for and cannot be printed', () => {
  it.each([['list', PROGRAM], ['profiles'], ['explain', '--bytes', '90']])(
    'is one line and status 125 on a full device: %s',
    (...args) => {
      const full = openSync('/dev/full', 'w');
      const outcome = trapline(args, { stdio: ['ignore', full, 'pipe'] });
      closeSync(full);
      expect(outcome.stderr).toBe('trapline: cannot write to stdout: no space left (ENOSPC)\n');
      expect(outcome.status).toBe(125);
    },
  );
});

describe('a corpus that cannot be kept', () => {
  it('is one line and status 125, at once', () => {
    const outcome = trapline(['fuzz', '--count', '1', '--corpus', '/proc/self/x']);
    expectComplaint(outcome, 125, /cannot keep a corpus in \/proc\/self\/x: ENOENT/);
  }, 60_000);
});
