import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AddressSpace } from '../../src/memory/address-space.ts';
import type { Vma } from '../../src/memory/vma.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const GOLDENS = join(import.meta.dirname, 'goldens');
/** Below the vvar and vdso pages that the recorded program had and ours has not. */
const MMAP_BASE = 0x7ffff7ff7000n;

const file = memoryInode('/walk', new Uint8Array(6 * 4096 + 100));

type Call = (space: AddressSpace, args: readonly string[]) => bigint | string | null;

const fault = (count: number): bigint | string => (count === 1 ? 1n : 'EFAULT');

/** The words of vma-walk.c. */
const CALLS: Readonly<Record<string, Call>> = {
  map: (space, [how, at, size, prot, kind, offset]) =>
    space.map({
      size: BigInt(size ?? 0),
      prot: Number(prot),
      ...(how === 'any' ? {} : { address: BigInt(at ?? 0) }),
      ...(how === 'replace' || how === 'only' ? { placement: how } : {}),
      growsDown: kind === 'grow',
      ...(kind === 'file' ? { file, offset: BigInt(offset ?? 0) } : {}),
    }),
  unmap: (space, [at, size]) => space.unmap(BigInt(at ?? 0), BigInt(size ?? 0)),
  protect: (space, [at, size, prot]) =>
    space.protect(BigInt(at ?? 0), BigInt(size ?? 0), Number(prot)),
  remap: (space, [at, old, size, how]) =>
    space.remap(BigInt(at ?? 0), BigInt(old ?? 0), BigInt(size ?? 0), {
      mayMove: how !== 'stay',
      ...(how === 'stay' || how === 'move' ? {} : { fixed: BigInt(how ?? 0) }),
    }),
  write: (space, [at]) => fault(space.write(BigInt(at ?? 0), new Uint8Array(1))),
  read: (space, [at]) => fault(space.read(BigInt(at ?? 0), new Uint8Array(1))),
};

const line = (vma: Vma): string => {
  const rights = ['r', 'w', 'x'].map((letter, bit) => ((vma.prot >> bit) & 1 ? letter : '-'));
  const range = `${vma.start.toString(16)}-${vma.end.toString(16)}`;
  return `${range} ${rights.join('')}p ${vma.offset.toString(16)} ${vma.file ? 'file' : 'anon'}`;
};

const run = (space: AddressSpace, text: string): string => {
  const [call, expected = ''] = text.split(' = ');
  const [name = '', ...args] = (call ?? '').split(' ');
  const result = CALLS[name]?.(space, args) ?? 0n;
  return `${call} = ${typeof result === 'string' ? result : `0x${result.toString(16)}`}`.replace(
    / = 0x0$/,
    expected === '0x0' ? ' = 0x0' : '$&',
  );
};

/** What our address space makes of the calls of a golden, in the golden's form. */
const replay = (golden: readonly string[]): string[] => {
  const space = new AddressSpace(new FakeEngine(), { mmapBase: MMAP_BASE });
  return golden
    .filter((text) => text === 'maps' || text.includes(' = '))
    .flatMap((text) =>
      text === 'maps' ? ['maps', ...space.vmas().map(line)] : [run(space, text)],
    );
};

describe('vmas beside Linux 6.18', () => {
  const names = readdirSync(GOLDENS).filter((name) => /^vma-walk-\d+\.txt$/.test(name));

  it.each(names)('%s: same results, same maps', (name) => {
    const [, ...golden] = readFileSync(join(GOLDENS, name), 'utf8').trimEnd().split('\n');
    expect(golden.length).toBeGreaterThan(400);
    expect(replay(golden)).toEqual(golden);
  });
});
