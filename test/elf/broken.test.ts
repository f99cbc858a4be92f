import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { view } from '../../src/base/bytes.ts';
import { TraplineError } from '../../src/base/errors.ts';
import { ElfImage } from '../../src/elf/image.ts';
import { loadProgram } from '../../src/elf/load.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const GOLDENS = join(import.meta.dirname, 'goldens');
const EXEC = readFileSync(join(GOLDENS, 'exec.elf'));
const INTERPRETED = readFileSync(join(GOLDENS, 'interpreted.elf'));

/** File offset of program header `i`; both files have theirs right behind the file header. */
const header = (i: number): number => 64 + 56 * i;

type Change = (bytes: Uint8Array, words: DataView) => unknown;

const changed = (original: Uint8Array, change: Change): Uint8Array => {
  const bytes = Uint8Array.from(original);
  const result = change(bytes, view(bytes));
  return result instanceof Uint8Array ? result : bytes;
};

const load = (bytes: Uint8Array): void => {
  const empty = new Uint8Array();
  loadProgram(new AddressSpace(new FakeEngine()), {
    file: memoryInode('/bad', bytes),
    interpreter: (path) => memoryInode(path, readFileSync(join(GOLDENS, 'static-pie.elf'))),
    argv: [empty],
    env: [],
    execFn: empty,
    random: new Uint8Array(16),
    facts: { hwcap: 0n, hwcap2: 0n, minSignalStack: 0n, uid: 0, gid: 0 },
  });
};

/** Offsets are those of Elf64_Ehdr and Elf64_Phdr. */
const FILES: readonly (readonly [string, Uint8Array, Change, RegExp])[] = [
  ['an empty file', EXEC, () => new Uint8Array(), /the file is empty/],
  ['a script', EXEC, () => new TextEncoder().encode('#!/bin/sh\n'), /not an ELF file/],
  ['only the magic', EXEC, (bytes) => bytes.subarray(0, 8), /header is incomplete/],
  ['half a header', EXEC, (bytes) => bytes.subarray(0, 40), /header is incomplete/],
  ['32-bit', EXEC, (_, words) => words.setUint8(4, 1), /32-bit/],
  ['class 7', EXEC, (_, words) => words.setUint8(4, 7), /unknown ELF class/],
  ['big-endian', EXEC, (_, words) => words.setUint8(5, 2), /big-endian/],
  ['AArch64', EXEC, (_, words) => words.setUint16(18, 183, true), /machine 183, not for x86-64/],
  ['an object file', EXEC, (_, words) => words.setUint16(16, 1, true), /object file/],
  ['a core dump', EXEC, (_, words) => words.setUint16(16, 4, true), /core dump/],
  ['phentsize', EXEC, (_, words) => words.setUint16(54, 32, true), /headers of 32 bytes/],
  ['no program headers', EXEC, (_, words) => words.setUint16(56, 0, true), /no program headers/],
  ['65535 of them', EXEC, (_, words) => words.setUint16(56, 0xffff, true), /1170 at most/],
  [
    'headers past the end',
    EXEC,
    (_, words) => words.setBigUint64(32, 0xffffffff_fffffff0n, true),
    /truncated: its program headers/,
  ],
  ['cut off', EXEC, (bytes) => bytes.subarray(0, 0x1010), /0x401000 lies outside the file/],
  [
    'no PT_LOAD',
    EXEC,
    (_, words) => [0, 1, 2].map((i) => words.setUint32(header(i), 0, true)),
    /no PT_LOAD/,
  ],
  [
    'file size above memory size',
    EXEC,
    (_, words) => words.setBigUint64(header(1) + 40, 1n, true),
    /more bytes in the file/,
  ],
  [
    'a petabyte of bss',
    EXEC,
    (_, words) => words.setBigUint64(header(2) + 40, 1n << 50n, true),
    /0x402000 does not fit into the address space/,
  ],
  [
    'a terabyte of bss',
    EXEC,
    (_, words) => words.setBigUint64(header(2) + 40, 1n << 40n, true),
    /cannot be mapped \(ENOMEM\)/,
  ],
  [
    'an address that wraps',
    EXEC,
    (_, words) => words.setBigUint64(header(2) + 16, 0xffffffff_ffffe000n, true),
    /does not fit into the address space/,
  ],
  [
    'offset and address out of step',
    EXEC,
    (_, words) => words.setBigUint64(header(1) + 16, 0x401008n, true),
    /differ within the page/,
  ],
  [
    'overlapping segments',
    EXEC,
    (_, words) => words.setBigUint64(header(1) + 40, 0x1001n, true),
    /0x402000 overlaps the one at 0x401000/,
  ],
  [
    'descending segments',
    EXEC,
    (_, words) => words.setBigUint64(header(2) + 16, 0x200000n, true),
    /0x200000 comes after/,
  ],
  [
    'a segment where the stack goes',
    EXEC,
    (_, words) => words.setBigUint64(header(2) + 16, 0x7fffffff0000n, true),
    /no room for the first stack \(EEXIST\)/,
  ],
  [
    'below mmap_min_addr',
    EXEC,
    (_, words) => words.setBigUint64(header(0) + 16, 0n, true),
    /cannot be mapped \(EPERM\)/,
  ],
  [
    'an interpreter path outside the file',
    INTERPRETED,
    (_, words) => words.setBigUint64(header(1) + 8, 1n << 40n, true),
    /truncated: the path of its interpreter/,
  ],
  [
    'an interpreter path without NUL',
    INTERPRETED,
    (_, words) => words.setBigUint64(header(1) + 32, 4n, true),
    /not a proper string/,
  ],
];

describe('broken files', () => {
  it.each(FILES)('%s', (_name, original, change, message) => {
    const action = () => load(changed(original, change));
    expect(action).toThrow(TraplineError);
    expect(action).toThrow(message);
    expect(action).toThrow(expect.objectContaining({ code: 'bad-elf' }));
    expect(action).toThrow(/^\/bad: /);
  });

  it.each([
    ['exec', EXEC],
    ['interpreted', INTERPRETED],
  ])('%s with random bytes changed: loads, or one clear error', (_name, original) => {
    const edit = fc.tuple(fc.nat(original.length - 1), fc.nat(255));
    const nearHeaders = fc.tuple(fc.nat(64 + 56 * 9), fc.nat(255));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(edit, nearHeaders), { minLength: 1, maxLength: 6 }),
        fc.option(fc.nat(original.length)),
        (edits, cut) => {
          const bytes = Uint8Array.from(original.subarray(0, cut ?? original.length));
          for (const [at, value] of edits) bytes[at] = value;
          try {
            load(bytes);
            const image = ElfImage.parse(bytes, '/bad');
            image.functions();
            image.notes();
          } catch (error) {
            if (!(error instanceof TraplineError)) throw error;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
