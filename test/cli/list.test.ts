import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACTOR, jsonLines, PROGRAM, temporaryDirectory, trapline } from './cli.ts';

const USDT = join(import.meta.dirname, 'usdt.elf');

describe('trapline list', () => {
  // Offsets and instructions as `objdump -d` shows them.
  it('has functions with offset, address, verdict and first instruction', () => {
    const { status, stdout, stderr } = trapline(['list', '--kernel', 'k6.18', ACTOR]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^OFFSET +ADDRESS +VERDICT +NAME +INSTRUCTION\n/);
    expect(stdout).toMatch(/^0x1000 +0x401000 +step +_start +mov .*\(%rsp\),%rsi$/m);
    expect(stdout).toMatch(/^0x10[0-9a-f]{2} +0x4010[0-9a-f]{2} +emulate +work +push %rbx$/m);
    expect(stdout).toMatch(/ refuse +locked +lock incl \(%rdi\) +# .*lock/);
    expect(stdout).not.toContain('\u001b');
  });

  it('has USDT sites as probes name them', () => {
    const { stdout } = trapline(['list', USDT]);
    expect(stdout).toMatch(/^0x1005 +0x401005 +emulate +%shop:sale nop$/m);
    const [document] = jsonLines(trapline(['list', '--json', USDT]).stdout);
    expect(document).toMatchObject({ v: 1, type: 'list', path: USDT, profile: 'k7.3' });
    expect(document?.probeable).toMatchObject([
      { kind: 'function', name: '_start', offset: '0x1000', address: '0x401000' },
      { kind: 'label', name: 'one', offset: '0x1005' },
      { kind: 'label', name: 'two', offset: '0x100b' },
      { kind: 'usdt', name: 'shop:sale', offset: '0x1005', usdt: { args: '-4@%edi' } },
      { kind: 'usdt', name: 'shop:sale', offset: '0x100b', verdict: 'emulate' },
    ]);
  });

  it('says when a file names nothing', () => {
    // The program without its section headers: e_shoff, e_shnum and e_shstrndx are zero.
    const stripped = join(temporaryDirectory(), 'stripped');
    const bytes = readFileSync(PROGRAM);
    bytes.fill(0, 40, 48).fill(0, 60, 64);
    writeFileSync(stripped, bytes);
    const { status, stdout, stderr } = trapline(['list', stripped]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/no functions and no USDT sites/);
  });
});

describe('trapline run on a USDT name', () => {
  it('attaches to every site and raises the semaphore', () => {
    const args = ['run', '--profile', '-p', 'p:sale @:%shop:sale n=%di:u32', USDT];
    const { status, stderr } = trapline(args);
    // One increment a site (spec 2.9); the program exits with the semaphore's value.
    expect(status).toBe(2);
    expect([...stderr.matchAll(/sale: \((0x\w+)\) n=(\d)$/gm)].map((hit) => hit.slice(1))).toEqual([
      ['0x401005', '5'],
      ['0x40100b', '6'],
    ]);
    expect(stderr.match(/ sale {41}.* 1$/gm)).toHaveLength(2);
  });
});
