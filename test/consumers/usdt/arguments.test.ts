/** The grammar of USDT arguments, and their values in a program (`sites.S` says what is in its registers). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseUsdtArguments } from '../../../src/consumers/usdt/argument.ts';
import { showUsdtArgument } from '../../../src/consumers/usdt/show.ts';
import { type EngineFactory, Machine, MemoryTree } from '../../../src/index.ts';
import { engines } from '../../helpers/engines.ts';

const SYMBOLS: Readonly<Record<string, bigint>> = { counter: 0x404010n, 'table.0': 0x404020n };

const decoded = (text: string): string[] =>
  parseUsdtArguments(text, (name) => SYMBOLS[name]).map(showUsdtArgument);

/** Description and what it means. The first ones are from documentation of libbpf, perf and bpftrace. */
const FORMS: readonly (readonly [string, ...string[]])[] = [
  [
    '-4@%esi -4@-24(%rbp) -4@%ecx 2@%ax 8@%rdx',
    's32 esi',
    's32 [rbp-24]',
    's32 ecx',
    'u16 ax',
    'u64 rdx',
  ],
  ['-4@$5 8@-8(%rbp) 8@(%rax)', 's32 constant 5', 'u64 [rbp-8]', 'u64 [rax]'],
  ['1@-96(%rbp,%rax,8)', 'u8 [rbp+rax*8-96]'],
  [
    '1@(%rbp,%rax,8) 1@-96(%rbp,%rax) 1@(%rbp,%rax)',
    'u8 [rbp+rax*8]',
    'u8 [rbp+rax-96]',
    'u8 [rbp+rax]',
  ],
  ['-2@(%rdx,%rax,2)', 's16 [rdx+rax*2]'],
  ['8@%rdi 4@%edi 2@%di 1@%dil', 'u64 rdi', 'u32 edi', 'u16 di', 'u8 dil'],
  ['-1@%ah 1@%bpl 4@%r15d 2@%r8w 1@%r10b', 's8 ah', 'u8 bpl', 'u32 r15d', 'u16 r8w', 'u8 r10b'],
  [
    '8@$-1 8@$0x10 -8@$9223372036854775807',
    'u64 constant -1',
    'u64 constant 16',
    's64 constant 9223372036854775807',
  ],
  [
    '4@counter(%rip) 4@counter 4@counter+4(%rip) 4@-4+counter(%rip)',
    'u32 [counter]',
    'u32 [counter]',
    'u32 [counter+4]',
    'u32 [counter-4]',
  ],
  ['8@table.0(,%rax,8) 8@16(%rip) 8@%rip', 'u64 [table.0+rax*8]', 'u64 [rip+16]', 'u64 rip'],
  [
    '8f@%xmm0 4f@%xmm15 8f@-16(%rsp) -8f@%xmm1',
    'f64 xmm0',
    'f32 xmm15',
    'f64 [rsp-16]',
    'f64 xmm1',
  ],
  ['8@%fs:40 8@%fs:-8(%rax) 8@%gs:(%rdi)', 'u64 fs:[40]', 'u64 fs:[rax-8]', 'u64 gs:[rdi]'],
  ['8@0x7ffe0000', 'u64 [2147352576]'],
  ['  -4 @ %edi   8@ -8 ( %rbp ) ', 's32 edi', 'u64 [rbp-8]'],
  ['-4@ -8 ( %rdx , %rcx , 4 ) 8@%rax', 's32 [rdx+rcx*4-8]', 'u64 rax'],
  [''],
];

/** Forms that mean nothing; the argument behind each is still read. */
const UNKNOWN: readonly (readonly [string, RegExp])[] = [
  ['8@%rzx', /no register %rzx/],
  ['8@%ymm0', /no register %ymm0/],
  ['8@%st(1)', /no operand/],
  ['3@%eax', /size of 3 bytes/],
  ['16@%xmm0', /size of 16 bytes/],
  ['0@%eax', /size of 0 bytes/],
  ['2f@%xmm0', /floating point of 2 bytes/],
  ['1@%xmm0', /1 bytes of a vector register/],
  ['%eax', /not SIZE@OPERAND/],
  ['x@%eax', /not SIZE@OPERAND/],
  ['8@', /no operand/],
  ['8@()', /no operand/],
  ['8@(%rax,%rbx,3)', /scale of 3/],
  ['8@(%rax,%rbx,x)', /scale of x/],
  ['8@(%rax', /no operand/],
  ['8@rax)', /no operand/],
  ['8@(%xmm0)', /holds no address/],
  ['8@(%rax,%zzz,2)', /no register %zzz/],
  ['8@$', /no number/],
  ['8@$counter', /address, not a number/],
  ['8@$12x', /no number/],
  ['8@missing(%rip)', /no symbol missing/],
  ['8@-counter', /no number/],
  ['8@counter+table.0', /no number/],
  ['8@--8(%rbp)', /no number/],
  ['4@%fs:var@tpoff', /no number/],
  ['8@%es:(%rax)', /no number/],
];

describe('descriptions', () => {
  it.each(FORMS)('%s', (text, ...meanings) => {
    expect(decoded(text)).toEqual(meanings);
  });

  it.each(UNKNOWN)('%s is told of, and hides nothing', (text, problem) => {
    const [unknown, next] = decoded(`${text} -4@%edi`);
    expect(unknown).toMatch(problem);
    expect(unknown).toMatch(/^\? /);
    expect(next).toBe('s32 edi');
  });
});

const program = (name: string): Uint8Array =>
  Uint8Array.from(readFileSync(join(import.meta.dirname, name)));

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  // rax 0x8877665544332211, r9 0x1122334455667788
  registers: [
    ...[0x8877665544332211n, 0x44332211n, 0x2211n, 0x11n, 0x22n],
    ...[0x1122334455667788n, 0x55667788n, 0x7788n, -0x78n],
  ],
  // 300 is 44 in eight bits, 255 is -1
  constants: [-5n, 5n, 0x7fffffffffffffffn, 44n, -1n],
  // -77 was pushed; array = -1, 2, -3, 4; the quad behind it
  memory: [-77n, -77n, 0xffffn, 2n, 0x0123456789abcdefn],
  // rcx = 2: the third element, as s16 and u16, and the second
  sib: [-3n, 0xfffdn, 2n],
  // counter = -6, 7; %rip is the site: its int3, three unprobed nops, pop, pop, ret, and floats' first byte
  symbols: [-6n, 0xfffffffan, 7n, -3n, 0xf2c35d58909090ccn],
  empty: [],
  colon: [],
  // rcx = 2: no memory there; ecx is still had
  unreadable: ['EFAULT', 2n],
  floats: [1.5, -0.25, 1.5, 1.5, -0.25],
};

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory | undefined;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });

    const machineOf = (bytes: Uint8Array): Machine =>
      Machine.create({
        engine: factory as EngineFactory,
        profile: 'k6.18',
        program: {
          path: '/sites',
          tree: new MemoryTree({ sites: { bytes, mode: 0o755 } }),
          file: 'sites',
        },
      });

    for (const file of ['sites.elf', 'sites-pie.elf'])
      for (const [name, values] of Object.entries(VALUES))
        it(`${file}: values of ${name}`, async (ctx) => {
          if (factory === undefined) return ctx.skip(engine.missing ?? '');
          using machine = machineOf(program(file));
          const seen: unknown[] = [];
          machine.usdt(`@:%form:${name}`, (usdt) => {
            for (let i = 0; i <= usdt.count; i++) seen.push(usdt.arg(i));
          });
          await machine.run();
          expect(seen).toEqual([...values, 'ENOENT']);
        });

    it('refuses what cannot be attached, naming probe and errno', (ctx) => {
      if (factory === undefined) return ctx.skip(engine.missing ?? '');
      using machine = machineOf(program('sites.elf'));
      const attach = (site: string, pid?: number) => () =>
        machine.usdt(site, () => {}, pid === undefined ? {} : { pid });
      expect(attach('@:%form:gone')).toThrow(/no USDT probe form:gone \(ENOENT, errno 2\)/);
      expect(attach('@:operands')).toThrow(/not PATH:%PROVIDER:NAME/);
      expect(attach('/gone:%form:sib')).toThrow(expect.objectContaining({ errno: 'ENOENT' }));
      expect(attach('@:%form:sib', 5)).toThrow(expect.objectContaining({ errno: 'ESRCH' }));
    });
  });
