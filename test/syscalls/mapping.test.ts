import { describe, expect, it } from 'vitest';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { Guest } from './guest.ts';

const [READ, WRITE] = [1, 2];
const [SHARED, PRIVATE, FIXED, ANONYMOUS, LOW] = [1, 2, 0x10, 0x20, 0x40];
const RDWR = 2;

const withFile = (): { guest: Guest; fd: number } => {
  const guest = new Guest({}, new MemoryTree({ f: `first${'.'.repeat(4091)}second` }));
  return { guest, fd: guest.call('open', '/f', RDWR) as number };
};

describe('mmap', () => {
  it('shows a file’s bytes from the offset on, and keeps them after the descriptor is closed', () => {
    const { guest, fd } = withFile();
    const at = guest.call('mmap', 0, 0x1000, READ, PRIVATE, fd, 0x1000) as number;
    guest.call('close', fd);
    expect(guest.text(BigInt(at), 6)).toBe('second');
    expect(guest.task.mm.space.find(BigInt(at))).toMatchObject({ offset: 0x1000n });
    expect(guest.task.mm.space.find(BigInt(at))?.file).toBe(guest.view.inode('/f'));
  });

  it('lets private pages be written to and the file be', () => {
    const { guest, fd } = withFile();
    const at = guest.call('mmap', 0, 0x1000, READ | WRITE, PRIVATE, fd, 0) as number;
    expect(guest.call('pread64', fd, at, 1, 4096)).toBe(1);
    expect(guest.text(BigInt(at), 5)).toBe('sirst');
    const into = guest.room(8);
    guest.call('pread64', fd, into, 5, 0);
    expect(guest.text(into, 5)).toBe('first');
  });

  it('reads a private page anew after MADV_DONTNEED', () => {
    const { guest, fd } = withFile();
    const at = guest.call('mmap', 0, 0x1000, READ | WRITE, PRIVATE, fd, 0) as number;
    guest.call('pread64', fd, at, 1, 4096);
    expect(guest.call('madvise', at, 0x1000, 4)).toBe(0);
    expect(guest.text(BigInt(at), 5)).toBe('first');
  });

  it('has no shared mappings of files that can be written to, and says so once', () => {
    const { guest, fd } = withFile();
    for (let i = 0; i < 3; i++)
      expect(guest.call('mmap', 0, 0x1000, READ | WRITE, SHARED, fd, 0)).toBe('ENODEV');
    expect(guest.log).toEqual([
      'mmap: a shared mapping of a file cannot be written to here (ENODEV)',
    ]);
    expect(typeof guest.call('mmap', 0, 0x1000, READ, SHARED, fd, 0)).toBe('number');
  });

  it('of /dev/zero is anonymous memory', () => {
    const guest = new Guest();
    const fd = guest.call('open', '/dev/zero', RDWR);
    const at = guest.call('mmap', 0, 0x1000, READ | WRITE, PRIVATE, fd as number, 0) as number;
    expect(guest.task.mm.space.find(BigInt(at))).toMatchObject({ file: null, shared: false });
    const shared = guest.call('mmap', 0, 0x1000, READ | WRITE, SHARED, fd as number, 0) as number;
    expect(guest.task.mm.space.find(BigInt(shared))).toMatchObject({ file: null, shared: true });
  });

  it('takes low addresses upwards with MAP_32BIT', () => {
    const guest = new Guest();
    const map = () => guest.call('mmap', 0, 0x1000, READ, PRIVATE | ANONYMOUS | LOW, -1, 0);
    // find_start_end of arch/x86: from 1 GiB on.
    expect(map()).toBe(0x4000_0000);
    expect(map()).toBe(0x4000_1000);
  });

  it('of absurd sizes allocates nothing', () => {
    const guest = new Guest();
    const before = guest.task.mm.space.counters.pagesPopulated;
    expect(guest.call('mmap', 0, 1n << 46n, READ, PRIVATE | ANONYMOUS, -1, 0)).toBe('ENOMEM');
    expect(guest.call('mmap', 0, 1n << 30n, READ, PRIVATE | ANONYMOUS, -1, 0)).toBeGreaterThan(0);
    expect(guest.task.mm.space.counters.pagesPopulated).toBe(before);
    expect(guest.call('mincore', 0x10000, 1n << 40n, 0x11000)).toBe('ENOMEM');
  });
});

describe('brk', () => {
  it('stays a page below what comes next, and what it gives up is gone', () => {
    const guest = new Guest();
    expect(guest.call('brk', 0)).toBe(0x600000);
    expect(guest.call('mmap', 0x610000, 0x1000, READ, PRIVATE | ANONYMOUS | FIXED, -1, 0)).toBe(
      0x610000,
    );
    // check_brk_limits: find_vma_intersection(oldbrk, newbrk + PAGE_SIZE)
    expect(guest.call('brk', 0x610000)).toBe(0x600000);
    expect(guest.call('brk', 0x60f000)).toBe(0x60f000);
    guest.task.mm.space.writeU64(0x601000n, 7n);
    expect(guest.call('brk', 0x601000)).toBe(0x601000);
    expect(guest.call('brk', 0x602000)).toBe(0x602000);
    expect(guest.u64(0x601000n)).toBe(0n);
  });
});
