import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyse } from '../../src/uprobes/arch/analyse.ts';
import { explain, findProfile } from '../../src/uprobes/index.ts';
import { execTableOf } from '../helpers/conform/golden.ts';
import { missing } from '../helpers/requirements.ts';
import { type Encoding, sweepCases } from './sweep-cases.ts';
import { askImage, askKernel } from './sweep-kernel.ts';
import { moreSweepCases } from './sweep-more.ts';

const goldens = join(import.meta.dirname, '../goldens');
const profile = findProfile('k6.18')!;
const k7_3 = findProfile('k7.3')!;

const errnoOf = (bytes: Uint8Array, rules = profile): string => {
  const analysis = analyse(bytes, rules);
  return analysis.verdict === 'refuse' ? analysis.errno : 'ok';
};

const LETTER: Readonly<Record<string, string>> = { ok: 'o', ENOTSUPP: 's', ENOEXEC: 'x' };
const ours = (bytes: Encoding, rules = profile): string =>
  LETTER[errnoOf(Uint8Array.from(bytes), rules)]!;
const hex = (bytes: Encoding): string => Buffer.from(bytes).toString('hex');

/** Both lists of encodings, with the goldens that hold the kernel's answers in their order. */
const SWEEPS = {
  sweep: { cases: sweepCases, file: 'test/uprobes/sweep-cases.ts' },
  'sweep-more': { cases: moreSweepCases, file: 'test/uprobes/sweep-more.ts' },
} as const;
type Sweep = keyof typeof SWEEPS;

const pathOf = (name: Sweep): string => join(goldens, `${name}-6.18.44.txt`);
const LINE = 100;

/** `oooss` as `3o2s`. */
const shortened = (answers: string): string =>
  answers.replace(/(.)\1+/g, (run, letter: string) => `${run.length}${letter}`);

const writeSweep = (name: Sweep, answers: string): void => {
  const lines = shortened(answers).match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  const head = [
    `# May a uprobe be put there? Answers of Linux 6.18.44 x86-64 to ${SWEEPS[name].file}, in its order:`,
    '# o = accepted, s = ENOTSUPP, x = ENOEXEC; a number before a letter repeats it. Recorded by test/uprobes/sweep.c;',
    '# again with UPDATE_GOLDENS=1 on that kernel as root.',
  ];
  writeFileSync(pathOf(name), `${[...head, ...lines].join('\n')}\n`);
};

const readSweep = (name: Sweep): string =>
  readFileSync(pathOf(name), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('')
    .replace(/(\d+)(.)/g, (_, count: string, letter: string) => letter.repeat(Number(count)));

const differences = (cases: readonly Encoding[], answers: string, rules = profile): string[] =>
  cases
    .map((bytes, index) => ({ bytes, kernel: answers[index] ?? '?' }))
    .filter(({ bytes, kernel }) => ours(bytes, rules) !== kernel)
    .map(({ bytes, kernel }) => `${hex(bytes)}: kernel ${kernel}, ours ${ours(bytes, rules)}`);

type NamedAnswer = readonly [name: string, bytes: string, answer: string];

const readAccept = (release: string): readonly NamedAnswer[] =>
  readFileSync(join(goldens, `accept-${release}.txt`), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ') as [string, string, string]);

describe('acceptance under k7.3 equals Linux 7.3.4', () => {
  it('for the named encodings', () => {
    const changed = new Map(readAccept('7.3.4').map((line) => [line[0], line]));
    const wrong = readAccept('6.18.44')
      .map((line) => changed.get(line[0]) ?? line)
      .filter(([, bytes, answer]) => errnoOf(Buffer.from(bytes, 'hex'), k7_3) !== answer);
    expect(wrong).toEqual([]);
  });

  // It gave the answers of 6.18.44 to all 106,040 of them.
  it.for(Object.keys(SWEEPS) as Sweep[])('for the list %s', (name) => {
    expect(differences(SWEEPS[name].cases(), readSweep(name), k7_3)).toEqual([]);
  });
});

/** VMLINUZ=… PROFILE=… asks the kernel of an image in QEMU. */
const { VMLINUZ: image, PROFILE: imageProfile = 'k7.3' } = process.env;

describe('acceptance on the kernel of an image', () => {
  it.for(Object.keys(SWEEPS) as Sweep[])('for the list %s', { timeout: 600_000 }, (name, ctx) => {
    if (image === undefined) return ctx.skip('needs VMLINUZ (docs/kernel-notes.md)');
    const cases = SWEEPS[name].cases();
    expect(differences(cases, askImage(image, cases), findProfile(imageProfile))).toEqual([]);
  });
});

describe('acceptance under k6.18 equals Linux 6.18.44', () => {
  it('for the named encodings', () => {
    const lines = readAccept('6.18.44');
    expect(lines.length).toBe(1688);
    const wrong = lines.filter(
      ([, bytes, answer]) => errnoOf(Buffer.from(bytes, 'hex')) !== answer,
    );
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

  it.for(Object.keys(SWEEPS) as Sweep[])('for the list %s', (name) => {
    const cases = SWEEPS[name].cases();
    if (process.env.UPDATE_GOLDENS === '1') writeSweep(name, askKernel(cases));
    const answers = readSweep(name);
    expect(answers.length).toBe(cases.length);
    expect(cases.length).toBeGreaterThan(40_000);
    expect(differences(cases, answers)).toEqual([]);
  });

  it('on this machine, for a part of the sweep', (ctx) => {
    const note = missing('kernel 6.18 as root') ?? missing('gcc');
    if (note !== null) return ctx.skip(note);
    const cases = [...sweepCases(), ...moreSweepCases()].filter((_, index) => index % 97 === 0);
    expect(differences(cases, askKernel(cases))).toEqual([]);
  });
});
