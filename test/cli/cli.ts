/** Runs the built command as a user does. */
import {
  type ChildProcessWithoutNullStreams,
  type SpawnSyncOptions,
  spawn,
  spawnSync,
} from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
export const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
/** A static freestanding program without arguments or output; exits with 0. */
export const PROGRAM = join(ROOT, 'test', 'goldens', 'fetch-args.elf');

/** Does what the first letter of its argument says; see actor.S. */
export const ACTOR = join(import.meta.dirname, 'actor.elf');

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

/** A running command: what it printed so far, and its end. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when stderr contains the text. */
  seen(text: string): Promise<void>;
  readonly end: Promise<Outcome & { readonly signal: NodeJS.Signals | null }>;
}

export const start = (args: readonly string[]): Running => {
  const child = spawn(process.execPath, [MAIN, ...args]);
  const output = { stdout: '', stderr: '' };
  let wake = (): void => {};
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      output[name] += chunk;
      wake();
    });
  return {
    child,
    seen: async (text) => {
      while (!output.stderr.includes(text))
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    end: new Promise((resolve) => {
      child.on('close', (status, signal) => resolve({ status, signal, ...output }));
    }),
  };
};
