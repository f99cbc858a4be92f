import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACTOR, expectComplaint, jsonLines, PROGRAM, temporaryDirectory, trapline } from './cli.ts';

describe('a program under trapline run', () => {
  it('keeps its exit status, and nothing is printed for it', () => {
    expect(trapline(['run', ACTOR, 'e'])).toEqual({ status: 7, stdout: '', stderr: '' });
  });

  it('ended by a signal is 128 + the signal', () => {
    expect(trapline(['run', ACTOR, 's'])).toEqual({ status: 139, stdout: '', stderr: '' });
  });

  it('has our stdin and stdout, byte for byte', () => {
    const input = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251));
    const { status, stdout } = trapline(['run', ACTOR, 'c'], { input });
    expect(status).toBe(0);
    expect(stdout).toBe(input.toString('utf8'));
  });

  it('takes its own options', () => {
    expect(trapline(['run', ACTOR, 'e', '--json', '--nonsense'])).toMatchObject({ status: 7 });
  });
});

describe('the trace', () => {
  const probes = ['-p', 'p:work @:work %di', '-p', 'r:back @:work $retval:u32'];
  const entry = /actor\.elf-\d+ +\[000\] DBZff +\d+\.\d{6}: work: \(0x4010[0-9a-f]{2}\) arg1=0x2a$/;
  const back = /: back: \(0x4010[0-9a-f]{2} <- 0x4010[0-9a-f]{2}\) arg1=43$/;

  it('goes to stderr and never shares a line with the program', () => {
    const { status, stdout, stderr } = trapline(['run', ...probes, ACTOR, 'w']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    const lines = stderr.split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(entry);
    expect(lines[1]).toMatch(back);
    expect(lines[2]).toBe('no line end');
    expect(lines[3]).toMatch(entry);
  });

  it('goes to a file, or to stdout', () => {
    const file = join(temporaryDirectory(), 'trace');
    expect(trapline(['run', ...probes, '-o', file, ACTOR, 'e']).stderr).toBe('');
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines).toHaveLength(3);
    expect(trapline(['run', ...probes, '-o', '-', ACTOR, 'e']).stdout).toBe(lines.join('\n'));
  });

  it('of an earlier run outlives a refused probe', () => {
    const file = join(temporaryDirectory(), 'trace');
    writeFileSync(file, 'earlier\n');
    expect(trapline(['run', '-p', 'p @:nothing', '-o', file, ACTOR, 'e']).status).toBe(125);
    expect(readFileSync(file, 'utf8')).toBe('earlier\n');
  });

  it('comes from a file of probes too, after those of the command line', () => {
    const file = join(temporaryDirectory(), 'probes');
    writeFileSync(file, '# both ends\n\np:second @:work   # entry\nr:third @:work\n');
    const args = ['run', '-p', 'p:first @:work', '--probes', file, '--profile', ACTOR, 'e'];
    const { stderr } = trapline(args);
    // The newest consumer of a site is called first (spec 2.1); the profile is in order of definition.
    expect([...stderr.matchAll(/: (\w+): \(/g)].map(([, name]) => name)).toEqual([
      'second',
      'first',
      'third',
    ]);
    const profile = stderr.split('\n').filter((line) => line.startsWith(`  ${ACTOR} `));
    expect(profile.map((line) => line.slice(3 + ACTOR.length))).toEqual(
      ['first', 'second', 'third'].map((name) => `${name.padEnd(44)} ${'1'.padStart(15)}`),
    );
  });

  it('has the bytes of the guest, whatever they are', () => {
    const file = join(temporaryDirectory(), 'trace');
    trapline(['run', '-p', 'p @:site +0(%r15):string %cx:char', '-o', file, PROGRAM]);
    expect(
      readFileSync(file).includes(Buffer.from(`arg1="\xff\x01\xc3" arg2='\xff'`, 'latin1')),
    ).toBe(true);
  });

  it('as JSON has hits, profile, stats and exit in one stream', () => {
    const args = ['run', '--json', '--profile', '--stats', '-o', '-', ...probes, ACTOR, 'e'];
    const { status, stdout, stderr } = trapline(args);
    expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
    const records = jsonLines(stdout);
    expect(records.map(({ type }) => type)).toEqual([
      'hit',
      'hit',
      'profile',
      'profile',
      'stats',
      'exit',
    ]);
    expect(records.every(({ v }) => v === 1)).toBe(true);
    expect(records[0]).toMatchObject({
      seq: 1,
      group: 'uprobes',
      probe: 'work',
      kind: 'entry',
      via: 'int3',
      args: { arg1: '0x2a' },
    });
    expect(records[0]?.regs).toMatchObject({ di: '0x2a', ip: records[0]?.ip });
    expect(records[1]).toMatchObject({ seq: 2, kind: 'return', args: { arg1: 43 } });
    expect(records[1]).toMatchObject({ func: records[0]?.ip, ret_ip: records[1]?.ip });
    expect(records[2]).toMatchObject({ path: ACTOR, probe: 'work', hits: 1, missed: 0 });
    // The return comes by system call 335 (default profile k7.3).
    expect(records[4]?.counters).toMatchObject({ 'trap.int3': 1, 'syscall.335': 1 });
    expect(records[5]).toMatchObject({ status: 7 });
  });

  it('of a killed program ends with the signal', () => {
    const { status, stderr } = trapline(['run', '--format', 'json', ACTOR, 's']);
    expect(status).toBe(139);
    expect(jsonLines(stderr)).toMatchObject([{ v: 1, type: 'exit', signal: 11 }]);
  });
});

describe('a probe that is refused is one line and status 125', () => {
  it.each<[string, RegExp]>([
    ['p:x @:0x1 %zz', /"p:x @:0x1 %zz": Invalid register name at "%zz" \(EINVAL, errno 22\)/],
    ['p:x @:0x1 +0(%di', /Dereference brace is not closed.*\(EINVAL, errno 22\)/],
    ['p:1x @:0x1', /Event name must follow the same rules as C identifiers/],
    ['p', /the site is missing/],
    ['q @:0x1', /begins with p or r/],
    ['p @:gone', /no function gone/],
    ['p @:0xffffff', /"p @:0xffffff": offset 0xffffff is outside the file \(EINVAL, errno 22\)/],
    ['p @:locked', /"p @:locked": .*lock.*\(ENOTSUPP, errno 524\)/],
    ['p /gone:0x10', /"p \/gone:0x10": Failed to find the given file.*\(ENOENT, errno 2\)/],
  ])('%s', (probe, message) => {
    expectComplaint(trapline(['run', '-p', probe, ACTOR, 'e']), 125, message);
  });

  it('also when it is the same one again', () => {
    const args = ['run', '-p', 'p:x @:work', '-p', 'p:x @:work', ACTOR, 'e'];
    expectComplaint(trapline(args), 125, /exact same probe event.*\(EEXIST, errno 17\)/);
  });

  // The kernel accepts it and never inserts it: a line tells, the program runs.
  it('but not where no mapping covers the site', () => {
    const { status, stderr } = trapline(['run', '-p', 'p @:0x2345', ACTOR, 'e']);
    expect(status).toBe(7);
    expect(stderr).toMatch(/^trapline: [^\n]*p @:0x2345[^\n]*mapping[^\n]*\n$/);
  });

  it('also from a file', () => {
    expectComplaint(trapline(['run', '--probes', '/gone', ACTOR]), 125, /\/gone: no such file/);
  });

  it('and a trace that cannot be written is one too', () => {
    expectComplaint(trapline(['run', '-o', '/gone/x', ACTOR]), 125, /cannot write \/gone\/x/);
    const { status, stderr } = trapline(['run', '-o', '/dev/full', '-p', 'p @:work', ACTOR, 'e']);
    expect({ status, stderr }).toEqual({
      status: 7,
      stderr: 'trapline: cannot write the trace: ENOSPC\n',
    });
  });
});

describe('our own limits', () => {
  it('of instructions', () => {
    const outcome = trapline(['run', '--max-instructions', '100000', ACTOR, 'l']);
    expectComplaint(outcome, 124, /limit of --max-instructions/);
  });

  it('of time', () => {
    expectComplaint(trapline(['run', '--timeout', '0.3', ACTOR, 'l']), 124, /0\.3 s, the limit/);
  });

  it('of the engine: address and instruction are named', () => {
    const outcome = trapline(['run', ACTOR, 'v']);
    expectComplaint(
      outcome,
      124,
      /unicorn cannot execute vmovdqa.* at 0x4010[0-9a-f]{2}; no other engine can either/,
    );
  });

  it('of the kernel layer: the system call is named', () => {
    const { status, stderr } = trapline(['run', ACTOR, 'f']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^trapline: [^\n]*fork[^\n]*\n$/);
  });

  it('are in the exit record', () => {
    const args = ['run', '--json', '-o', '-', '--max-instructions', '100000', ACTOR, 'l'];
    expect(jsonLines(trapline(args).stdout)).toMatchObject([{ type: 'exit', status: 124 }]);
  });
});
