import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { engines } from '../helpers/engines.ts';
import { bootFile, runToEnd } from '../helpers/kernel.ts';
import { missing } from '../helpers/requirements.ts';

const FACTS = join(import.meta.dirname, 'facts');
const PROGRAMS = ['files', 'memory', 'process'];
const noCompiler = missing('gcc');

/** What the program printed under Linux 6.18 (`facts/record.sh`). */
const recorded = (name: string): string[] =>
  readFileSync(join(FACTS, `${name}.k6.18.txt`), 'utf8')
    .trimEnd()
    .split('\n');

let build = '';

beforeAll(() => {
  if (noCompiler !== null) return;
  build = mkdtempSync(join(tmpdir(), 'trapline-facts-'));
  for (const name of PROGRAMS) {
    const source = join(FACTS, `${name}.c`);
    const made = spawnSync('gcc', ['-static', '-O1', '-w', '-o', join(build, name), source]);
    if (made.status !== 0) throw new Error(`${name}.c: ${made.stderr}`);
  }
});
afterAll(() => {
  if (build !== '') rmSync(build, { recursive: true });
});

/** Links that `files.c` makes with symlink(2), which trees of ours do not offer. */
const LINKS = { link: { link: 'file' }, loop: { link: 'loop' }, dangling: { link: 'nowhere' } };

/** Runs a program in an empty writable directory of its own. */
const answersOf = async (engine: (typeof engines)[number], name: string): Promise<string[]> => {
  const booted = bootFile(await engine.load(), join(build, name));
  booted.files.mount({ at: '/work', tree: new MemoryTree(LINKS), writable: true });
  booted.files.streams.stdin.end();
  booted.task.files.cwd = '/work';
  const end = runToEnd(booted);
  expect(end).toEqual({ kind: 'exited', reason: { kind: 'exit', status: 0 } });
  return booted.output().trimEnd().split('\n');
};

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    it.for(PROGRAMS)('%s: every answer as on Linux 6.18', async (name, ctx) => {
      ctx.skip(engine.missing !== null || noCompiler !== null, engine.missing ?? noCompiler ?? '');
      expect(await answersOf(engine, name)).toEqual(recorded(name));
    });
  });
