/** Rules of the analysis that differ by profile or that the acceptance goldens do not show. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyse } from '../../src/uprobes/arch/analyse.ts';
import { isTaken } from '../../src/uprobes/arch/emulate.ts';
import { explain, findProfile, PROFILE_NAMES, type ProfileName } from '../../src/uprobes/index.ts';

const bytes = (hex: string): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.replace(/\s+/g, ''), 'hex'));
const of = (profile: ProfileName, hex: string, pageOffset = 0) =>
  explain(bytes(hex), findProfile(profile)!, { pageOffset });

/** The profiles whose verdict on these bytes is `emulate`. */
const emulatedBy = (hex: string): ProfileName[] =>
  PROFILE_NAMES.filter((name) => of(name, hex).verdict === 'emulate');

const optimisedBy = (hex: string): ProfileName[] =>
  PROFILE_NAMES.filter((name) => of(name, hex).optimisable);

const ALL = [...PROFILE_NAMES];
const SINCE_6_16 = ALL.slice(3);
const GENERIC = ALL.slice(5);
const OPCODE_90 = ALL.slice(0, 5);

describe('nops by profile (spec 3.3, 0a)', () => {
  it.each([
    ['90', ALL],
    ['66 90', ALL],
    ['f3 90', OPCODE_90],
    ['49 90', OPCODE_90],
    ['c5 f8 90 0b', OPCODE_90],
    ['0f 1f 00', SINCE_6_16],
    ['0f 1f 44 00 00', SINCE_6_16],
    ['0f 1f 84 00 00 00 00 00', SINCE_6_16],
    ['66 0f 1f 84 00 00 00 00 00', GENERIC],
    ['48 0f 1f 40 00', GENERIC],
    ['44 0f 1f 00', []],
    ['0f 1f c0', GENERIC],
    ['0f 1f 48 00', []],
    ['48 89 c0', GENERIC],
    ['4d 89 c0', GENERIC],
    ['4c 89 c0', []],
    ['89 c0', []],
    ['48 8d 40 00', GENERIC],
    ['48 8d 64 24 00', GENERIC],
    ['48 8d 64 64 00', []],
    ['48 8d 40 01', []],
    ['48 8d 00', []],
    ['67 48 8d 40 00', []],
    ['eb 00', ALL],
    ['e9 00 00 00 00', ALL],
  ] as const)('%s', (hex, profiles) => {
    expect(emulatedBy(hex)).toEqual(profiles);
  });

  it('eb 00 is a jump or a nop: both move ip to the next instruction', () => {
    const kind = (profile: ProfileName) => {
      const analysis = analyse(bytes('eb 00'), findProfile(profile)!);
      return analysis.verdict === 'refuse' ? null : analysis.handling.kind;
    };
    expect([kind('k6.18'), kind('k7.1')]).toEqual(['jump', 'nop']);
  });
});

describe('optimisable sites by profile (spec 5.1, 0a)', () => {
  const NOP5 = ['k6.18', 'k7.1', 'k7.1.5'];
  it.each([
    ['0f 1f 44 00 00', NOP5],
    ['66 66 66 41 90', ['k6.18']],
    ['f3 0f 1f 40 00', NOP5],
    ['44 0f 1f 40 00', ['k6.18']],
    ['48 8d 64 24 00', ['k7.1', 'k7.1.5']],
    ['e9 00 00 00 00', ['k7.1', 'k7.1.5']],
    ['c4 e1 f8 90 0b', ['k6.18']],
    ['66 2e 0f 1f 84 00 00 00 00 00', ['k7.3']],
    ['66 2e 0f 1f 84 e8 b6 d8 ff ff', ['k7.3']],
    ['66 66 0f 1f 84 00 00 00 00 00', []],
  ] as const)('%s', (hex, profiles) => {
    expect(optimisedBy(hex)).toEqual(profiles);
  });

  it('not across a page: nop5 stays emulated, nop10 falls back on the prefix rule (C88)', () => {
    expect(of('k6.18', '0f 1f 44 00 00', 0xffb)).toMatchObject({ optimisable: true });
    expect(of('k6.18', '0f 1f 44 00 00', 0xffc)).toMatchObject({
      optimisable: false,
      verdict: 'emulate',
    });
    const nop10 = '66 2e 0f 1f 84 00 00 00 00 00';
    expect(of('k7.3', nop10, 0xff6)).toMatchObject({ optimisable: true, verdict: 'emulate' });
    expect(of('k7.3', nop10, 0xff7)).toMatchObject({ verdict: 'refuse', errno: 'ENOTSUPP' });
  });
});

describe('explanations', () => {
  it('name the rule and what would work instead', () => {
    expect(of('k6.18', '66 2e 0f 1f 84 00 00 00 00 00')).toEqual({
      length: 10,
      verdict: 'refuse',
      errno: 'ENOTSUPP',
      optimisable: false,
      reason: '0x2e (cs) prefix is refused',
      advice: 'attach at +2',
      xol: null,
      scratch: null,
    });
    expect(of('k6.18', '3e ff e0').advice).toBe('attach at +1');
    // 66 is part of what the instruction means.
    expect(of('k6.18', '66 3e 8b 03').advice).toBe('attach at the instruction before or after it');
    expect(of('k6.18', 'f0 01 03')).toMatchObject({
      reason: '0xf0 (lock) prefix is refused',
      advice: 'attach at the instruction before or after it',
    });
    expect(of('k6.18', 'cc').reason).toContain('int3');
    expect(of('k6.18', '8e d0').reason).toContain('mov to ss');
    expect(of('k6.18', '66 e8 00 00 00 00').reason).toContain('0x66');
    expect(of('k6.18', 'c5 fa 6f 00').reason).toContain('behind VEX2');
    expect(of('k6.18', '62')).toMatchObject({ length: null, errno: 'ENOEXEC' });
  });

  it('say when an instruction is mistaken for another', () => {
    expect(of('k6.18', 'c5 e9 e8 c1')).toMatchObject({ verdict: 'emulate' });
    expect(of('k6.18', 'c5 e9 e8 c1').reason).toContain('does not execute');
  });

  it('show the slot and the scratch register', () => {
    // As more.txt of 6.18.44 shows the slots.
    expect(of('k6.18', '48 8d 0d 44 33 22 11')).toMatchObject({
      verdict: 'step',
      xol: '488d8e44332211',
      scratch: 'si',
    });
    expect(of('k6.18', '48 8b 35 00 10 00 00')).toMatchObject({ scratch: 'di' });
    expect(of('k6.18', 'c5 c8 58 3d 00 10 00 00')).toMatchObject({ scratch: 'bx' });
    expect(of('k6.18', '48 89 f8')).toMatchObject({ xol: '4889f8', scratch: null });
  });
});

describe('RIP-relative operands in the slot', () => {
  it('are rewritten as Linux 6.18.44 does', () => {
    const golden = join(import.meta.dirname, '../goldens/slots-6.18.44.txt');
    const rows = readFileSync(golden, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' ') as [string, string]);
    expect(rows.length).toBeGreaterThan(550);
    const wrong = rows.filter(([file, slot]) => {
      const analysis = analyse(bytes(file), findProfile('k6.18')!);
      if (analysis.verdict !== 'step') return true;
      const copy = Buffer.from(analysis.stepping.bytes).toString('hex');
      return copy.slice(0, slot.length) !== slot;
    });
    expect(wrong).toEqual([]);
  });
});

describe('conditions of jcc (spec 3.3, C72)', () => {
  const bit = (flags: bigint, index: bigint): boolean => ((flags >> index) & 1n) === 1n;
  const expected = (condition: number, flags: bigint): boolean => {
    const [cf, pf, zf, sf, of_] = [0n, 2n, 6n, 7n, 11n].map((index) => bit(flags, index));
    const less = sf !== of_;
    const even = [of_, cf, zf, cf || zf, sf, pf, less, zf || less][condition >> 1]!;
    return condition & 1 ? !even : even;
  };
  it('hold for every combination of flags', () => {
    for (let condition = 0; condition < 16; condition++)
      for (let flags = 0n; flags < 0x1000n; flags++)
        if (isTaken(condition, flags) !== expected(condition, flags))
          expect.fail(`condition ${condition}, flags ${flags}`);
  });
});
