import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyse } from '../../src/uprobes/arch/analyse.ts';
import { explain, findProfile } from '../../src/uprobes/index.ts';
import { execTableOf } from '../helpers/conform/golden.ts';
import { missing } from '../helpers/requirements.ts';
import { type Encoding, sweepCases } from './sweep-cases.ts';
import { askKernel } from './sweep-kernel.ts';

const goldens = join(import.meta.dirname, '../goldens');
const profile = findProfile('k6.18')!;

const errnoOf = (bytes: Uint8Array): string => {
  const analysis = analyse(bytes, profile);
  return analysis.verdict === 'refuse' ? analysis.errno : 'ok';
};

const LETTER: Readonly<Record<string, string>> = { ok: 'o', ENOTSUPP: 's', ENOEXEC: 'x' };
const ours = (bytes: Encoding): string => LETTER[errnoOf(Uint8Array.from(bytes))]!;
const hex = (bytes: Encoding): string => Buffer.from(bytes).toString('hex');

const SWEEP = join(goldens, 'sweep-6.18.44.txt');
const LINE = 100;

const writeSweep = (answers: string): void => {
  const lines = answers.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  const head = [
    '# May a uprobe be put there? Answers of Linux 6.18.44 x86-64 to test/uprobes/sweep-cases.ts, in its order:',
    '# o = accepted, s = ENOTSUPP, x = ENOEXEC. Recorded by test/uprobes/sweep.c;',
    '# again with UPDATE_GOLDENS=1 on that kernel as root.',
  ];
  writeFileSync(SWEEP, `${[...head, ...lines].join('\n')}\n`);
};

const readSweep = (): string =>
  readFileSync(SWEEP, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('');

const differences = (cases: readonly Encoding[], answers: string): string[] =>
  cases
    .map((bytes, index) => ({ bytes, kernel: answers[index] ?? '?' }))
    .filter(({ bytes, kernel }) => ours(bytes) !== kernel)
    .map(({ bytes, kernel }) => `${hex(bytes)}: kernel ${kernel}, ours ${ours(bytes)}`);

describe('acceptance under k6.18 equals Linux 6.18.44', () => {
  it('for the named encodings', () => {
    const lines = readFileSync(join(goldens, 'accept-6.18.44.txt'), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines.length).toBe(1688);
    const wrong = lines
      .map((line) => line.split(' ') as [string, string, string])
      .filter(([, bytes, answer]) => errnoOf(Buffer.from(bytes, 'hex')) !== answer);
    expect(wrong).toEqual([]);
  });

  it('for errno, emulate or step, and optimised of the executed instructions', () => {
    const { cases } = execTableOf(readFileSync(join(goldens, 'insn-exec-6.18.44.txt'), 'utf8'));
    expect(cases.length).toBe(285);
    const wrong = cases.filter(({ name, bytes, errno, how, optimised }) => {
      const got = explain(Buffer.from(bytes, 'hex'), profile);
      // Recorded as stepped because its store faults: the emulation falls back on a step.
      const verdict = name === 'call_badstack' ? 'emulate' : how === 'xol' ? 'step' : 'emulate';
      return (
        (got.errno ?? 'ok') !== errno ||
        (errno === 'ok' && got.verdict !== verdict) ||
        got.optimisable !== optimised
      );
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('for the sweep', () => {
    const cases = sweepCases();
    if (process.env.UPDATE_GOLDENS === '1') writeSweep(askKernel(cases));
    const answers = existsSync(SWEEP) ? readSweep() : '';
    expect(answers.length).toBe(cases.length);
    expect(cases.length).toBeGreaterThan(20_000);
    expect(differences(cases, answers)).toEqual([]);
  });

  it('on this machine, for a part of the sweep', (ctx) => {
    const note = missing('kernel 6.18 as root') ?? missing('gcc');
    if (note !== null) return ctx.skip(note);
    const cases = sweepCases().filter((_, index) => index % 37 === 0);
    expect(differences(cases, askKernel(cases))).toEqual([]);
  });
});
