import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compileCached } from '../../src/host/node/code-cache.ts';

let folder: string;
let script: string;
const TEXT = '(() => { const answer = () => 6 * 7; return answer(); })';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trapline-cache-'));
  script = join(folder, 'script.js');
  writeFileSync(script, TEXT);
});

afterEach(() => rmSync(folder, { recursive: true }));

const cached = (): string[] => readdirSync(join(folder, 'cache'));

/** The listener that would run as this process ends. */
const atExit = (work: () => void): (() => void) => {
  const before = new Set(process.listeners('exit'));
  work();
  const [added] = process.listeners('exit').filter((listener) => !before.has(listener));
  if (added !== undefined) process.removeListener('exit', added);
  return () => added?.(0);
};

const compile = () => compileCached(script, TEXT, join(folder, 'cache'));

it('writes its file as the process ends, and uses it from then on', () => {
  atExit(() => expect(compile().runInThisContext()()).toBe(42))();
  expect(cached()).toHaveLength(1);
  const again = compile();
  expect([again.cachedDataRejected, again.runInThisContext()()]).toEqual([false, 42]);
});

it('compiles the text when the file is not V8’s', () => {
  atExit(compile)();
  const [file = ''] = cached();
  writeFileSync(join(folder, 'cache', file), 'something else');
  const renew = atExit(() => expect(compile().runInThisContext()()).toBe(42));
  renew();
  expect([cached(), compile().cachedDataRejected]).toEqual([[file], false]);
});

it('does without where nothing can be written', () => {
  writeFileSync(join(folder, 'cache'), 'a file, no folder');
  const end = atExit(() => expect(compile().runInThisContext()()).toBe(42));
  expect(end).not.toThrow();
});

it('keeps one file for each version of the script', () => {
  atExit(compile)();
  execFileSync('touch', ['-d', '2001-02-03', script]);
  atExit(compile)();
  expect(cached()).toHaveLength(2);
});
