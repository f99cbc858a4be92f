/** The process's streams, in a process of their own: these tests use what `npm run build` made. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DOOR = pathToFileURL(join(import.meta.dirname, '../../dist/host/node/stdio.js')).href;

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'trapline-stdio-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Writes a script whose body may use `stdio`; `node` runs the file. */
const script = (name: string, body: string): string => {
  if (!existsSync(new URL(DOOR))) throw new Error('nothing is built: npm run build');
  const path = join(dir, `${name}.mjs`);
  const text = `import { processStdio } from ${JSON.stringify(DOOR)};\nconst stdio = processStdio();\n${body}`;
  writeFileSync(path, text);
  return path;
};

const READ_ALL = `
const sizes = [];
for (let got = await stdio.io.stdin.read(); got !== null; got = await stdio.io.stdin.read())
  sizes.push(got.length);
stdio.stderr.line(JSON.stringify({ sizes, end: await stdio.io.stdin.read() }));
stdio.close();`;

const start = (path: string): ChildProcess =>
  spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'pipe'] });

/** Exit status and all stderr; the test's own time limit ends one that hangs. */
const ended = (child: ChildProcess): Promise<{ code: number | null; stderr: string }> =>
  new Promise((resolve) => {
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.on('close', (code) => resolve({ code, stderr }));
  });

describe('stdin', () => {
  it('comes as the host gives it, then ends', async () => {
    const child = start(script('pieces', READ_ALL));
    child.stdin?.write('abc');
    setTimeout(() => child.stdin?.end('defgh'), 300);
    const { code, stderr } = await ended(child);
    const { sizes, end } = JSON.parse(stderr) as { sizes: number[]; end: null };
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(8);
    expect(end).toBeNull();
    expect(code).toBe(0);
  });

  it.each(['</dev/null', '<&-'])('is empty with %s', (redirection) => {
    const path = script('empty', READ_ALL);
    const command = `exec "$0" "$1" ${redirection}`;
    const { stderr, status } = spawnSync('sh', ['-c', command, process.execPath, path]);
    expect(String(stderr)).toBe('{"sizes":[],"end":null}\n');
    expect(status).toBe(0);
  });

  it('may be a file', () => {
    writeFileSync(join(dir, 'input'), 'x'.repeat(100_000));
    const path = script('file', READ_ALL);
    const { stderr } = spawnSync('sh', [
      '-c',
      `exec "$0" "$1" < ${dir}/input`,
      process.execPath,
      path,
    ]);
    const { sizes } = JSON.parse(String(stderr)) as { sizes: number[] };
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000);
  });

  it('does not hold the process, whether it was read or not', async () => {
    const unread = start(script('unread', 'stdio.close();'));
    expect((await ended(unread)).code).toBe(0);
    const pending = start(
      script(
        'pending',
        `const read = stdio.io.stdin.read();
         setTimeout(() => stdio.close(), 100);
         process.exitCode = (await read) === null ? 7 : 8;`,
      ),
    );
    expect((await ended(pending)).code).toBe(7);
  });

  it('of a terminal comes line by line', (ctx) => {
    ctx.skip(spawnSync('script', ['--version']).status !== 0, 'needs script: apt install bsdutils');
    const path = script('tty', `stdio.stderr.line(JSON.stringify(stdio.io.terminal));${READ_ALL}`);
    const command = `stty cols 99 rows 33; sleep 1; exec ${process.execPath} ${path}`;
    const { stdout } = spawnSync('script', ['-qc', command, '/dev/null'], {
      input: 'one\nthree\n\x04',
    });
    const lines = String(stdout)
      .split('\r\n')
      .filter((line) => line.startsWith('{'));
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      size: { columns: 99, rows: 33 },
      stdin: true,
      stdout: true,
      stderr: true,
    });
    expect(JSON.parse(lines[1] ?? '')).toEqual({ sizes: [4, 6], end: null });
  });
});

describe('stdout and stderr', () => {
  it('tell EPIPE when nobody reads', () => {
    const path = script(
      'closed',
      `await new Promise((resolve) => setTimeout(resolve, 200));
       stdio.stderr.line(String(stdio.io.stdout(Buffer.from('x'))));
       stdio.close();`,
    );
    const { stderr } = spawnSync('sh', ['-c', `"$0" "$1" | true`, process.execPath, path]);
    expect(String(stderr)).toBe('EPIPE\n');
  });

  it('wait for a slow reader of a non-blocking pipe, and lose nothing', () => {
    // process.stdout makes the pipe non-blocking.
    const path = script(
      'slow',
      `process.stdout.write('');
       const bytes = Buffer.alloc(1 << 20, 'y');
       stdio.stderr.line(String(stdio.io.stdout(bytes)));
       stdio.close();`,
    );
    const { stdout, stderr } = spawnSync('sh', [
      '-c',
      `"$0" "$1" | { sleep 0.3; wc -c; }`,
      process.execPath,
      path,
    ]);
    expect(String(stderr)).toBe('null\n');
    expect(String(stdout).trim()).toBe(String(1 << 20));
  });

  it('never put a line of ours behind the guest’s bytes, and keep the order', () => {
    const path = script(
      'lines',
      `const guest = (text) => stdio.io.stderr(Buffer.from(text));
       stdio.stderr.line('first');
       guest('guest ');
       guest('line\\nno end');
       stdio.stderr.line('ours');
       stdio.stderr.line('ours again');
       guest('');
       guest('\\xff\\n');
       stdio.stderr.line('raw \\udcff byte');
       stdio.close();`,
    );
    const { stderr } = spawnSync(process.execPath, [path], { encoding: 'latin1' });
    expect(stderr).toBe('first\nguest line\nno end\nours\nours again\n\xc3\xbf\nraw \xff byte\n');
  });
});
