/** Every rule that refuses a probe: its words, its errno, and what would work instead. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostProgram, loadEngine } from '../../src/host/node/index.ts';
import {
  BytesExplainer,
  Machine,
  PROFILES,
  requireProfile,
  TraplineError,
} from '../../src/index.ts';
import { trapline } from '../cli/cli.ts';

const ROOT = join(import.meta.dirname, '../..');
const k6_18 = requireProfile('k6.18');

const judge = (hex: string, profile = k6_18) => {
  const explainer = new BytesExplainer(profile);
  const found = explainer.explain(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  explainer.free();
  return found;
};

const NEIGHBOUR = 'attach at the instruction before or after it';

// Errnos as recorded in test/goldens/accept-6.18.44.txt and insn-exec-6.18.44.txt.
const RULES = [
  ['int3 in the file', 'cc', 'ENOTSUPP', /the file itself has an int3/, NEIGHBOUR],
  ['undecodable', '62', 'ENOEXEC', /cannot decode/, 'attach where an instruction begins'],
  ['es prefix', '26 90', 'ENOTSUPP', /^0x26 \(es\) prefix/, 'attach at +1'],
  ['cs prefix', '2e 90', 'ENOTSUPP', /^0x2e \(cs\) prefix/, 'attach at +1'],
  ['ss prefix', '36 8b 03', 'ENOTSUPP', /^0x36 \(ss\) prefix/, 'attach at +1'],
  ['ds prefix', '3e ff e0', 'ENOTSUPP', /^0x3e \(ds\) prefix/, 'attach at +1'],
  ['two idle prefixes', '2e 3e 90', 'ENOTSUPP', /^0x2e \(cs\) prefix/, 'attach at +2'],
  ['lock prefix', 'f0 01 03', 'ENOTSUPP', /^0xf0 \(lock\) prefix/, NEIGHBOUR],
  ['padding nop', '66 2e 0f 1f 84 00 00 00 00 00', 'ENOTSUPP', /^0x2e/, 'attach at +2'],
  ['idle prefix before what is refused', '2e cd 80', 'ENOTSUPP', /^0x2e/, NEIGHBOUR],
  ['mov to ss', '8e d0', 'ENOTSUPP', /mov to ss/, NEIGHBOUR],
  ['not in 64-bit mode', '06', 'ENOTSUPP', /opcode 0x06 does not exist in 64-bit mode/, NEIGHBOUR],
  ['port', 'ec', 'ENOTSUPP', /opcode 0xec reads or writes an I\/O port/, NEIGHBOUR],
  ['interrupt', 'cd 80', 'ENOTSUPP', /opcode 0xcd is a software interrupt/, NEIGHBOUR],
  ['privileged', 'fa', 'ENOTSUPP', /opcode 0xfa is privileged/, NEIGHBOUR],
  ['behind VEX', 'c5 fd ef c1', 'ENOTSUPP', /0xef behind VEX2 is looked up/, NEIGHBOUR],
  [
    '66 before a branch',
    '66 e8 00 00 00 00',
    'ENOTSUPP',
    /0x66 prefix on a near branch/,
    NEIGHBOUR,
  ],
] as const;

describe('a refused instruction', () => {
  it.each(RULES)('%s', (_, hex, errno, reason, advice) => {
    const found = judge(hex);
    expect(found).toMatchObject({ verdict: 'refuse', errno, advice });
    expect(found.reason).toMatch(reason);
  });

  it('is accepted where the advice says so', () => {
    for (const [, hex, , , advice] of RULES) {
      const [, skip] = /at \+(\d+)/.exec(advice) ?? [];
      if (skip === undefined) continue;
      const rest = hex.replaceAll(' ', '').slice(2 * Number(skip));
      expect(`${hex}: ${judge(rest).verdict}`).not.toContain('refuse');
    }
  });

  it('is refused by every profile but for the nop10', () => {
    const accepting = RULES.flatMap(([name, hex]) =>
      PROFILES.filter((profile) => judge(hex, profile).verdict !== 'refuse').map(
        (profile) => `${name} ${profile.name}`,
      ),
    );
    expect(accepting).toEqual(['padding nop k7.3']);
  });
});

describe('where the kernel’s decoder and the manual’s differ, explain says so', () => {
  it.each([
    // The kernel skips the prefix of emulated instructions; six bytes were stepped over (sweep-cases.ts).
    ['0f0b78656e90', /the kernel takes 6 bytes for the instruction, the manual 2 bytes/],
    ['0fffc0', /the kernel takes 2 bytes for the instruction, the manual 3 bytes/],
    ['d50800c1', /the manual knows no such instruction, the kernel takes 4 bytes for one/],
    ['0f0fc100', /the manual knows no such instruction, the kernel takes 4 bytes for one/],
  ])('%s', (hex, words) => {
    expect(judge(hex).disagreement).toMatch(words);
  });

  it.each(['90', '0f1f440000', 'c5f8900b', '62', 'e8'])('%s: they agree', (hex) => {
    expect(judge(hex).disagreement).toBeNull();
  });
});

describe('a refused probe', () => {
  const calc = join(ROOT, 'demo/calc.elf');
  const faults = join(ROOT, 'fixtures/elf/faults.elf');
  const end = statSync(calc).size;
  let machine: Machine;
  beforeAll(async () => {
    const engine = await loadEngine('unicorn');
    machine = Machine.create({ engine, program: hostProgram(calc), profile: 'k6.18' });
  });
  afterAll(() => machine.dispose());

  const refused = (attach: () => unknown): string => {
    try {
      attach();
    } catch (error) {
      if (error instanceof TraplineError) return `${error.errno}: ${error.message}; ${error.hint}`;
    }
    return 'accepted';
  };

  it.each([
    [
      'outside the file',
      `@:${end + 1}`,
      /^EINVAL: .*is outside the file \(EINVAL, errno 22\); it has 0x/,
    ],
    ['at its end', `@:${end}`, /^EIO: .*the end of the file \(EIO, errno 5\); `trapline list/],
    [
      'an odd counter',
      '@:factorial(0x101)',
      /^EINVAL: .*0x101 is at an odd offset \(EINVAL, errno 22\); a counter/,
    ],
  ])('%s', (_, site, words) => {
    expect(refused(() => machine.uprobe(site, { entry: () => undefined }))).toMatch(words);
  });

  it('another counter at the same place', () => {
    const link = machine.uprobe('@:apply', { entry: () => undefined });
    const text = refused(() => machine.uprobe('@:apply(0x100)', { entry: () => undefined }));
    link.close();
    expect(text).toMatch(/^EINVAL: .*a different reference counter \(EINVAL, errno 22\); give all/);
  });

  it('run and the library name rule, errno and advice', async () => {
    const site = `@:0x${readFileSync(faults).indexOf(Buffer.from('662e0f1f84', 'hex')).toString(16)}`;
    const words = /0x2e \(cs\) prefix is refused \(ENOTSUPP, errno 524\); attach at \+\d/;
    const engine = await loadEngine('unicorn');
    const other = Machine.create({ engine, program: hostProgram(faults), profile: 'k6.18' });
    expect(refused(() => other.uprobe(site, { entry: () => undefined }))).toMatch(words);
    expect(refused(() => other.tracefs.define(`p ${site}`))).toMatch(words);
    other.dispose();
    const { status, stderr } = trapline(['run', '--kernel', 'k6.18', '-p', `p ${site}`, faults]);
    expect([status, stderr]).toEqual([125, expect.stringMatching(words)]);
  });
});
