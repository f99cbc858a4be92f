import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** The packed library installed into an empty folder, as a user gets it. */
describe('the package', () => {
  let folder = '';
  let tarball = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trapline-pack-'));
    // `npm test` has built dist/; packing must not build again under the other tests.
    const printed = execFileSync(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
      { cwd: ROOT, encoding: 'utf8' },
    );
    const [packed] = JSON.parse(printed) as { filename: string }[];
    tarball = join(folder, packed?.filename ?? '');
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const install = (...options: string[]): void => {
    execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', ...options, tarball],
      { cwd: folder, stdio: 'pipe' },
    );
  };
  const trapline = (...words: string[]) =>
    spawnSync(process.execPath, ['node_modules/trapline/dist/cli/main.js', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
  const demo = ['run', '-p', 'p:f @:factorial n=%di:s64', '-o', '-'] as const;
  const program = 'node_modules/trapline/demo/calc.elf';

  it('without the optional engine says what to install and starts nothing', () => {
    install('--omit=optional');
    expect(existsSync(join(folder, 'node_modules/@specy'))).toBe(false);
    const { status, stdout, stderr } = trapline(...demo, program, '2!');
    expect(status).toBe(125);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^trapline: engine unicorn .*npm install @specy\/x86/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('runs the demo', () => {
    install();
    const { status, stdout } = trapline(...demo, program, '2!');
    expect(status).toBe(0);
    const lines = stdout.split('\n').map((line) => line.replace(/^.*DBZff +[\d.]+: /, ''));
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^f: \(0x[0-9a-f]+\) n=2$/),
      expect.stringMatching(/^f: \(0x[0-9a-f]+\) n=1$/),
      '2! = 2',
    ]);
  });
});
