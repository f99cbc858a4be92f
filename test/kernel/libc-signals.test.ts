import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../helpers/engines.ts';
import { bootFile, runToEnd } from '../helpers/kernel.ts';
import { missing } from '../helpers/requirements.ts';

const SOURCE = join(import.meta.dirname, 'libc', 'signals.c');
const COMPILERS = ['gcc', 'musl-gcc'] as const;

/** The oracle is this machine: the same static program run natively. */
describe('signals of C programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trapline-signals-'));
  const program = (compiler: string): string => join(folder, compiler);
  beforeAll(() => {
    for (const compiler of COMPILERS)
      if (missing(compiler) === null)
        spawnSync(compiler, ['-static', '-O1', '-w', '-o', program(compiler), SOURCE]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  for (const engine of engines)
    describe(`engine ${engine.name}`, () => {
      it.for(COMPILERS)('%s', async (compiler, ctx) => {
        const note = missing(compiler) ?? engine.missing;
        if (note !== null) ctx.skip(note);
        const native = spawnSync(program(compiler), { encoding: 'utf8' });
        expect(native.signal).toBe('SIGABRT');
        const booted = bootFile(await engine.load(), program(compiler));
        const end = runToEnd(booted);
        expect(booted.output()).toBe(native.stdout);
        expect(end).toMatchObject({ kind: 'exited', reason: { kind: 'signal', signal: 6 } });
      });
    });
});
