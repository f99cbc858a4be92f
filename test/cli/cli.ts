/** Runs the built command as a user does. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
export const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
/** A static freestanding program of 29 functions' worth of labels; exits with 0. */
export const PROGRAM = join(ROOT, 'test', 'goldens', 'fetch-args.elf');

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const trapline = (args: readonly string[], options: SpawnSyncOptions = {}): Outcome => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    maxBuffer: 1 << 28,
    ...options,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

/** Lines of a JSON-lines output. */
export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** One line of ours that matches, nothing else, and the status. */
export const expectComplaint = (outcome: Outcome, status: number, message: RegExp): void => {
  expect(outcome.stderr).toMatch(/^trapline: [^\n]*\n$/);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.stderr).not.toMatch(/internal error/);
  expect(outcome.stdout).toBe('');
  expect(outcome.status).toBe(status);
};

export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), 'trapline-cli-'));
