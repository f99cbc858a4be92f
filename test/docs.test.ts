import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const DIRECTORY = join(ROOT, 'test', '.generated');

/** The README's TypeScript block, its package names turned into our sources. */
const example = (): string => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  if (code === undefined) throw new Error('README.md has no TypeScript block');
  return code
    .replace("'trapline/node'", "'../../src/host/node/index.ts'")
    .replace("'trapline'", "'../../src/index.ts'");
};

describe('README', () => {
  afterAll(() => rmSync(DIRECTORY, { recursive: true, force: true }));

  it('its library example prints what its comment says', async () => {
    mkdirSync(DIRECTORY, { recursive: true });
    const file = join(DIRECTORY, 'readme-example.ts');
    writeFileSync(file, example());
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await import(file);
    // factorial(5) calls itself down to 1 (demo/calc.c).
    expect(log.mock.calls).toEqual([[[5n, 4n, 3n, 2n, 1n], { kind: 'exit', status: 0 }]]);
    log.mockRestore();
  });

  it('names every profile and engine there is', async () => {
    const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const { PROFILE_ALIASES, PROFILE_NAMES } = await import('../src/index.ts');
    const { ENGINES } = await import('../src/cpu/engines.ts');
    for (const name of [...PROFILE_NAMES, ...Object.keys(PROFILE_ALIASES), ...Object.keys(ENGINES)])
      expect(text).toContain(name);
  });
});
