import { describe, expect, it } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const RW = Prot.Read | Prot.Write;
const RX = Prot.Read | Prot.Exec;
const AT = 0x10000000n;

/** An address space with four pages of a file at AT; what its listener hears, one line a call. */
const listening = (prot: number) => {
  const space = new AddressSpace(new FakeEngine());
  const file = memoryInode('/lib', new Uint8Array(8 * 4096).fill(0x90));
  space.map({ address: AT, placement: 'only', size: 0x4000n, prot, file });
  const heard: string[] = [];
  const range = (start: bigint, end: bigint): string =>
    `${((start - AT) / 4096n).toString()}-${((end - AT) / 4096n).toString()}`;
  space.listener = {
    mapped: ({ start, end, prot }) => heard.push(`mapped ${range(start, end)} ${prot}`),
    unmapping: (start, end) => {
      expect(space.readForced(start, new Uint8Array(1))).toBe(1);
      heard.push(`unmapping ${range(start, end)}`);
    },
  };
  return { space, heard, file };
};

/** The kernel calls uprobe_mmap from mmap_region and vma_complete, uprobe_munmap from unmap_vmas. */
describe('the listener hears', () => {
  it('of a mapping, and of the whole it merged into', () => {
    const { space, heard, file } = listening(RX);
    const next = { address: AT + 0x4000n, placement: 'only', size: 0x1000n, prot: RX } as const;
    space.map({ ...next, file, offset: 0x4000n });
    expect(heard).toEqual(['mapped 0-5 5']);
  });

  it('of both halves of a split, which have their old rights then', () => {
    const { space, heard } = listening(RW);
    space.protect(AT + 0x1000n, 0x1000n, RX);
    expect(heard).toEqual(['mapped 0-1 3', 'mapped 1-4 3', 'mapped 1-2 3', 'mapped 2-4 3']);
  });

  it('of a merge, with the new rights', () => {
    const { space, heard } = listening(RW);
    space.protect(AT, 0x1000n, RX);
    heard.length = 0;
    space.protect(AT + 0x1000n, 0x3000n, RX);
    expect(heard).toEqual(['mapped 0-4 5']);
  });

  it('nothing when only rights change', () => {
    const { space, heard } = listening(RW);
    space.protect(AT, 0x4000n, RX);
    expect(heard).toEqual([]);
  });

  it('of what disappears, vma by vma, while it can still be read', () => {
    const { space, heard } = listening(RX);
    space.protect(AT, 0x1000n, Prot.Read);
    heard.length = 0;
    space.unmap(AT - 0x1000n, 0x3000n);
    expect(heard).toEqual(['mapped 1-2 5', 'mapped 2-4 5', 'unmapping 0-1', 'unmapping 1-2']);
  });

  it('only of the old place when mremap moves: breakpoints move with the pages', () => {
    const { space, heard } = listening(RX);
    space.writeText(AT, Uint8Array.of(0xcc));
    const to = AT + 0x10000n;
    expect(space.remap(AT, 0x4000n, 0x4000n, { mayMove: true, fixed: to })).toBe(to);
    expect(heard).toEqual(['unmapping 0-4']);
    const first = new Uint8Array(2);
    space.read(to, first);
    expect([...first]).toEqual([0xcc, 0x90]);
    expect(space.isAnonymous(to)).toBe(true);
  });

  it('of a vma that mremap grew in place', () => {
    const { space, heard } = listening(RX);
    expect(space.remap(AT, 0x4000n, 0x6000n, { mayMove: false })).toBe(AT);
    expect(heard).toEqual(['mapped 0-6 5']);
  });

  it('nothing of discarded pages, whose breakpoints are gone', () => {
    const { space, heard } = listening(RX);
    space.writeText(AT, Uint8Array.of(0xcc));
    space.discard(AT, 0x4000n);
    expect(heard).toEqual([]);
    expect(space.isAnonymous(AT)).toBe(false);
    const first = new Uint8Array(1);
    space.read(AT, first);
    expect(first[0]).toBe(0x90);
  });
});
