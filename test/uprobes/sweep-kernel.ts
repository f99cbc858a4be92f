/** Asks this machine's kernel, through `sweep.c`. Preconditions: root, uprobes, gcc. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Encoding } from './sweep-cases.ts';

const SOURCE = join(import.meta.dirname, 'sweep.c');

/** `o` = accepted, `s` = ENOTSUPP, `x` = ENOEXEC. */
export const LETTERS: Readonly<Record<string, string>> = { '0': 'o', '524': 's', '8': 'x' };

const inputOf = (cases: readonly Encoding[]): string =>
  cases.map((bytes) => `${Buffer.from(bytes).toString('hex')}\n`).join('');

const lettersOf = (output: string): string =>
  output
    .trim()
    .split('\n')
    .map((line) => LETTERS[line.split(' ')[1] ?? ''] ?? '?')
    .join('');

/** Asks the kernel of an image in QEMU. Preconditions: what `sweep-in-vm.sh` needs. */
export const askImage = (vmlinuz: string, cases: readonly Encoding[]): string =>
  lettersOf(
    execFileSync(join(import.meta.dirname, 'sweep-in-vm.sh'), [vmlinuz], {
      input: inputOf(cases),
      maxBuffer: 1 << 26,
    }).toString(),
  );

/** One letter an encoding. */
export const askKernel = (cases: readonly Encoding[]): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sweep-'));
  try {
    const tool = join(dir, 'sweep');
    execFileSync('gcc', ['-O2', '-Wall', '-pthread', '-o', tool, SOURCE]);
    return lettersOf(execFileSync(tool, { input: inputOf(cases), maxBuffer: 1 << 26 }).toString());
  } finally {
    rmSync(dir, { recursive: true });
  }
};
