import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromHex, view } from '../../src/base/bytes.ts';
import { Prot } from '../../src/cpu/engine.ts';
import { type LoadRequest, loadProgram } from '../../src/elf/load.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import type { Vma } from '../../src/memory/vma.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const GOLDENS = join(import.meta.dirname, 'goldens');
const TOP = 0x7ffffffff000n;
const bytesOf = (name: string): Uint8Array => readFileSync(join(GOLDENS, name));
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

interface Golden {
  readonly sp: bigint;
  readonly stack: Uint8Array;
  readonly brk: bigint;
  readonly maps: readonly string[];
}

const readGolden = (name: string): Golden => {
  const lines = readFileSync(join(GOLDENS, name), 'utf8').trimEnd().split('\n');
  const split = lines.indexOf('maps');
  return {
    sp: BigInt(lines[1]?.split(' ')[1] ?? ''),
    stack: fromHex(lines.slice(2, split - 1).join('')) ?? new Uint8Array(),
    brk: BigInt(lines[split - 1]?.split(' ')[1] ?? ''),
    maps: lines.slice(split + 1),
  };
};

const word = (bytes: Uint8Array, at: number): bigint => view(bytes).getBigUint64(at, true);

/** Where the vector begins: after argc, the arguments, NULL, the environment, NULL. */
const auxvAt = (stack: Uint8Array): number => {
  let at = 8 * (Number(word(stack, 0)) + 2);
  while (word(stack, at) !== 0n) at += 8;
  return at + 8;
};

const auxValue = (stack: Uint8Array, type: bigint): bigint => {
  for (let at = auxvAt(stack); ; at += 16) if (word(stack, at) === type) return word(stack, at + 8);
};

/** The recorded stack without its first entry, AT_SYSINFO_EHDR: we have no vdso. */
const withoutVdso = (stack: Uint8Array): Uint8Array => {
  const at = auxvAt(stack);
  expect(word(stack, at)).toBe(33n);
  return Uint8Array.from([...stack.subarray(0, at), ...stack.subarray(at + 16)]);
};

/** A maps line in the form of the goldens. */
const line = (vma: Vma): string => {
  const rights = ['r', 'w', 'x'].map((letter, bit) => ((vma.prot >> bit) & 1 ? letter : '-'));
  const range = [vma.start, vma.end].map((at) => at.toString(16).padStart(8, '0')).join('-');
  const name = vma.file?.path.replace(/^.*\//, '') ?? vma.label ?? '';
  return `${range} ${rights.join('')}p ${vma.offset.toString(16).padStart(8, '0')} ${name}`.trimEnd();
};

const load = (name: string, golden: Golden, changes: Partial<LoadRequest> = {}) => {
  const space = new AddressSpace(new FakeEngine());
  const randomAt = Number(auxValue(golden.stack, 25n) - golden.sp);
  const program = loadProgram(space, {
    file: memoryInode(`/somewhere/${name}.elf`, bytesOf(`${name}.elf`)),
    interpreter: (path) =>
      path === '/tmp/trapline-interpreter'
        ? memoryInode(path, bytesOf('static-pie.elf'))
        : undefined,
    argv: [`./${name}.elf`, 'one', 'two words'].map(text),
    env: ['A=1', 'LONG=value'].map(text),
    execFn: text(`./${name}.elf`),
    random: golden.stack.subarray(randomAt, randomAt + 16),
    facts: {
      hwcap: auxValue(golden.stack, 16n),
      hwcap2: auxValue(golden.stack, 26n),
      minSignalStack: auxValue(golden.stack, 51n),
      uid: 0,
      gid: 0,
    },
    ...changes,
  });
  return { space, program };
};

const NOTHING = { argv: [text('./exec.elf')], env: [] };

describe.each([
  ['exec', 'exec', {}],
  ['exec', 'exec-bare', NOTHING],
  ['static-pie', 'static-pie', {}],
  ['huge', 'huge', {}],
  ['interpreted', 'interpreted', {}],
])('%s as %s.txt tells of Linux 6.18', (name, goldenName, changes) => {
  const golden = readGolden(`${goldenName}.txt`);
  const { space, program } = load(name, golden, changes);

  it('has the same first stack', () => {
    const stack = new Uint8Array(Number(TOP - program.sp));
    expect(space.read(program.sp, stack)).toBe(stack.length);
    expect(program.sp).toBe(golden.sp + 16n);
    expect(stack).toEqual(withoutVdso(golden.stack));
  });

  it('has the same mappings', () => {
    const kernels = golden.maps.filter(
      (text) => !/\[(vvar|vvar_vclock|vdso|vsyscall)\]/.test(text),
    );
    expect(space.vmas().map(line)).toEqual(kernels);
    expect(program.brkStart).toBe(golden.brk);
  });

  it('reports the vector as /proc/self/auxv has it', () => {
    const at = auxvAt(golden.stack);
    const length = program.auxv.length;
    expect(program.auxv).toEqual(withoutVdso(golden.stack).subarray(at, at + length));
    expect(word(program.auxv, length - 16)).toBe(0n);
    expect(program.interpreterBase).toBe(auxValue(golden.stack, 7n));
    expect(program.bias + program.image.header.entry).toBe(auxValue(golden.stack, 9n));
  });

  it('zeroes the bss that shares a page with data', () => {
    const data = program.image.segments.findLast(({ type }) => type === 1);
    const start = (data?.address ?? 0n) + (data?.fileSize ?? 0n) + program.bias;
    const bss = new Uint8Array(Number((data?.memorySize ?? 0n) - (data?.fileSize ?? 0n))).fill(1);
    expect(space.read(start, bss)).toBe(bss.length);
    expect(bss.every((byte) => byte === 0)).toBe(true);
    expect(space.find(start + BigInt(bss.length) - 1n)?.prot).toBe(Prot.Read | Prot.Write);
  });
});

describe('a segment of no size', () => {
  it('maps nothing, wherever in its page it lies: Linux 6.18 faults with MAPERR there', () => {
    const golden = readGolden('exec.txt');
    const bytes = Uint8Array.from(bytesOf('exec.elf'));
    // The third program header: p_vaddr keeps its place in the page, p_filesz and p_memsz are 0.
    const third = 64 + 2 * 56;
    const address = word(bytes, third + 16) + 8n;
    view(bytes).setBigUint64(third + 8, word(bytes, third + 8) + 8n, true);
    view(bytes).setBigUint64(third + 16, address, true);
    for (const field of [32, 40]) view(bytes).setBigUint64(third + field, 0n, true);
    const { space } = load('exec', golden, { file: memoryInode('/somewhere/exec.elf', bytes) });
    expect(space.find(address)).toBeUndefined();
  });
});

describe('arguments', () => {
  it('may be 128 KiB each, NUL included, and 2 MiB in all: execve answers E2BIG beyond', () => {
    const golden = readGolden('exec.txt');
    const word = new Uint8Array((128 << 10) - 1).fill(0x61);
    const run = (count: number) => () => load('exec', golden, { argv: Array(count).fill(word) });
    expect(run(15)).not.toThrow();
    const tooLong = expect.objectContaining({ code: 'bad-option', errno: 'E2BIG' });
    expect(run(16)).toThrow(tooLong);
    const longest = new Uint8Array(128 << 10);
    expect(() => load('exec', golden, { argv: [longest] })).toThrow(tooLong);
  });
});

describe('an interpreter', () => {
  it('runs first', () => {
    const { program } = load('interpreted', readGolden('interpreted.txt'));
    expect(program.entry).toBe(program.interpreterBase + 0x1000n);
  });

  it('that the guest cannot see is named, with the option that helps', () => {
    const golden = readGolden('interpreted.txt');
    expect(() => load('interpreted', golden, { interpreter: () => undefined })).toThrow(
      expect.objectContaining({
        code: 'file-missing',
        message: expect.stringContaining('/tmp/trapline-interpreter'),
        hint: expect.stringContaining('--root'),
      }),
    );
  });
});
