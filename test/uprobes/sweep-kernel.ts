/** Asks this machine's kernel, through `sweep.c`. Preconditions: root, uprobes, gcc. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoding } from './sweep-cases.ts';

const SOURCE = join(import.meta.dirname, 'sweep.c');

/** `o` = accepted, `s` = ENOTSUPP, `x` = ENOEXEC. */
export const LETTERS: Readonly<Record<string, string>> = { '0': 'o', '524': 's', '8': 'x' };

/** One letter an encoding. */
export const askKernel = (cases: readonly Encoding[]): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sweep-'));
  try {
    const tool = join(dir, 'sweep');
    execFileSync('gcc', ['-O2', '-Wall', '-pthread', '-o', tool, SOURCE]);
    const input = cases.map((bytes) => Buffer.from(bytes).toString('hex')).join('\n');
    const output = execFileSync(tool, { input: `${input}\n`, maxBuffer: 1 << 26 }).toString();
    return output
      .trim()
      .split('\n')
      .map((line) => LETTERS[line.split(' ')[1] ?? ''] ?? '?')
      .join('');
  } finally {
    rmSync(dir, { recursive: true });
  }
};
