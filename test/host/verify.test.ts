import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runNatively } from '../../src/host/node/verify/native-run.ts';
import { inGroup } from '../../src/host/node/verify/trace-events.ts';
import { bodiesOf } from '../../src/host/node/verify/trace-lines.ts';
import { normalForm } from '../../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'trapline-verify-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the kernel’s trace', () => {
  // Columns as Linux 6.18.44 printed them (fixtures/record/tracefs.c reads the same file).
  const trace = [
    '# tracer: nop',
    '#',
    '        calc.elf-1000    [000] DBZff   192.400001: add: (0x4003ec) a=1 text="x',
    'y"',
    '           other-77      [000] DBZff   192.400002: add: (0x4003ec) a=2',
    '  odd name: [1] -1000    [000] dL.ff   192.400003: sum: (0x4003ae <- 0x400192) v=3',
    '',
  ].join('\n');

  it('gives one thread’s lines without their columns; strings may hold line ends', () => {
    expect(bodiesOf(trace, 1000)).toEqual([
      'add: (0x4003ec) a=1 text="x',
      'y"',
      'sum: (0x4003ae <- 0x400192) v=3',
    ]);
  });
});

describe('the normal form', () => {
  it('hides where the kernel put things, with four and with five levels of page tables', () => {
    expect(normalForm('f: (0x400a29 <- 0x400a80) a=0x7fffffffe000 b=0xffffffffffe000')).toBe(
      'f: (0x400a29 <- 0x400a80) a=HIGH b=HIGH',
    );
    const kept = 'f: (0x400a29) a=0x7fefffffffff b=0x800000000000 c=0xfffffffffff000';
    expect(normalForm(kept)).toBe(kept);
  });
});

describe('a definition', () => {
  it('moves into a group of ours', () => {
    expect(inGroup('r:uprobes/sum /a/b:0x0000000000000192(0x20) v=$retval:s32', 'mine')).toEqual({
      event: 'sum',
      path: '/a/b',
      definition: 'r:mine/sum /a/b:0x0000000000000192(0x20) v=$retval:s32',
    });
  });
});

describe('a native run', () => {
  const script = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return path;
  };
  const run = (path: string, args: string[] = [], stdin = '') =>
    runNatively(
      { path, args, env: { ONLY: 'this' }, stdin: Buffer.from(stdin) },
      AbortSignal.timeout(20_000),
    );

  it('has its own environment, directory and input, and tells its end', async () => {
    const end = await run(
      script('a', 'pwd; echo "$ONLY $1"; cat; echo oops >&2; exit 7'),
      ['one'],
      'in',
    );
    expect(end.stdout.toString()).toBe('/\nthis one\nin');
    expect(end.stderr.toString()).toBe('oops\n');
    expect([end.status, end.signal]).toEqual([7, null]);
  });

  it('has fixed addresses, one CPU and no core file', async () => {
    const end = await run(
      script(
        'b',
        'cat /proc/self/personality; grep ^Cpus_allowed_list /proc/self/status; ulimit -c',
      ),
    );
    // ADDR_NO_RANDOMIZE
    expect(end.stdout.toString()).toBe('00040000\nCpus_allowed_list:\t0\n0\n');
  });

  it('is told apart by its signal, and killed by the abort', async () => {
    expect(await run(script('c', 'kill -SEGV $$'))).toMatchObject({ signal: 'SIGSEGV' });
    const path = script('d', 'exec sleep 60');
    const program = { path, args: [], env: {}, stdin: new Uint8Array(0) };
    const aborted = runNatively(program, AbortSignal.timeout(300));
    await expect(aborted).rejects.toThrow(/abort/i);
  });
});
