import { describe, expect, it } from 'vitest';
import { O } from '../../src/abi/fcntl.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { Guest } from './guest.ts';

describe('what calls change', () => {
  it('exit and exit_group end the process with the low byte of the status', () => {
    for (const end of [
      (guest: Guest) => guest.call('exit', 0x1234),
      (guest: Guest) => guest.call('exit_group', 0x1234),
    ]) {
      const guest = new Guest();
      end(guest);
      expect(guest.task.exited).toBe(true);
      expect(guest.task.group.exit).toEqual({ kind: 'exit', status: 0x34 });
    }
  });

  it('arch_prctl sets the segment bases', () => {
    const guest = new Guest();
    guest.call('arch_prctl', 0x1002, 0x1234567n);
    guest.call('arch_prctl', 0x1001, 0x7654321n);
    expect(guest.task.regs.read(Reg.FsBase)).toBe(0x1234567n);
    expect(guest.task.regs.read(Reg.GsBase)).toBe(0x7654321n);
  });

  it('RLIMIT_NOFILE limits descriptors', () => {
    const guest = new Guest();
    const limit = guest.room(new Uint8Array(new BigUint64Array([4n, 4n]).buffer));
    expect(guest.call('setrlimit', 7, limit)).toBe(0);
    expect(guest.call('dup', 0)).toBe(3);
    expect(guest.call('dup', 0)).toBe('EMFILE');
    expect(guest.call('pipe', guest.room(8))).toBe('EMFILE');
    expect(guest.call('open', '/dev/null', O.RDONLY)).toBe('EMFILE');
    expect(guest.call('close', 3)).toBe(0);
    // One end fits, the other does not: neither stays open.
    expect(guest.call('pipe', guest.room(8))).toBe('EMFILE');
    expect(guest.call('dup', 0)).toBe(3);
  });

  it('getrandom fills what can be written, however much is asked for (as on Linux 6.18)', () => {
    const guest = new Guest();
    const at = 0x10000000n;
    expect(guest.task.mm.space.map({ address: at, size: 0x10000n, prot: 3 })).toBe(at);
    expect(guest.call('getrandom', at, (1n << 64n) - 1n, 0)).toBe(0x10000);
    expect(guest.call('read', 0, at, (1n << 64n) - 1n)).toBe('EFAULT');
  });

  it('getrandom follows from the seed, and chunks do not show', () => {
    const [one, two] = [new Guest(), new Guest()];
    const at = one.task.mm.space.map({ size: 0x40000n, prot: 3 }) as bigint;
    const again = two.task.mm.space.map({ size: 0x40000n, prot: 3 }) as bigint;
    expect(one.call('getrandom', at, 200_000, 0)).toBe(200_000);
    for (let done = 0; done < 200_000; done += 1000)
      expect(two.call('getrandom', again + BigInt(done), 1000, 0)).toBe(1000);
    expect(Buffer.compare(one.bytes(at, 200_000), two.bytes(again, 200_000))).toBe(0);
  });

  it('clocks agree with one another', () => {
    const guest = new Guest();
    const into = guest.room(16);
    guest.kernel.clock.skipTo(12_345_678_901n);
    guest.call('clock_gettime', 1, into);
    expect([guest.u64(into), guest.u64(into + 8n)]).toEqual([12n, 345_678_901n]);
    guest.call('clock_gettime', 6, into);
    // A 250 Hz kernel's coarse clock: 345678901 rounded down to 4 ms.
    expect(guest.u64(into + 8n)).toBe(344_000_000n);
    guest.call('gettimeofday', into, null);
    // 2026-01-01T00:00:00Z, `date -u -d 2026-01-01 +%s`, and 12 seconds.
    expect([guest.u64(into), guest.u64(into + 8n)]).toEqual([1_767_225_612n, 345_678n]);
    expect(guest.call('time', null)).toBe(1_767_225_612);
    // Sleeping is no CPU time; 100 ticks a second.
    expect(guest.call('times', into)).toBe(1234);
    expect(guest.u64(into)).toBe(0n);
  });

  it('set_tid_address and set_robust_list are kept', () => {
    const guest = new Guest();
    expect(guest.call('set_tid_address', 0x1234)).toBe(1000);
    expect(guest.task.clearChildTid).toBe(0x1234n);
    const [head, size] = [guest.room(8), guest.room(8)];
    guest.call('set_robust_list', 0x5678, 24);
    expect(guest.call('get_robust_list', 0, head, size)).toBe(0);
    expect([guest.u64(head), guest.u64(size)]).toEqual([0x5678n, 24n]);
  });

  it('uname and sysinfo tell one story every time', () => {
    const guest = new Guest();
    const into = guest.room(400);
    expect(guest.call('uname', into)).toBe(0);
    expect(guest.text(into, 5)).toBe('Linux');
    expect(guest.text(into + 4n * 65n, 6)).toBe('x86_64');
    expect(guest.call('sysinfo', into)).toBe(0);
    expect(guest.u64(into + 32n)).toBe(4n << 30n);
    expect(guest.u32(into + 104n)).toBe(1);
    expect(guest.call('getrusage', 0, into)).toBe(0);
  });

  it('there are no extended attributes', () => {
    const guest = new Guest({}, new MemoryTree({ f: '' }));
    expect(guest.call('getxattr', '/f', 'user.a', null, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('lgetxattr', '/f', 'user.a', null, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('fgetxattr', 0, 'user.a', null, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('setxattr', '/f', 'user.a', 'v', 1, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('lsetxattr', '/f', 'user.a', 'v', 1, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('fsetxattr', 0, 'user.a', 'v', 1, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('listxattr', '/f', null, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('llistxattr', '/f', null, 0)).toBe('EOPNOTSUPP');
    expect(guest.call('flistxattr', 0, null, 0)).toBe('EOPNOTSUPP');
  });

  it('no links and nodes are made', () => {
    const guest = new Guest();
    expect(guest.call('symlink', 'a', '/b')).toBe('EPERM');
    expect(guest.call('symlinkat', 'a', 3, '/b')).toBe('EPERM');
    expect(guest.call('link', '/a', '/b')).toBe('EPERM');
    expect(guest.call('linkat', 3, '/a', 3, '/b')).toBe('EPERM');
    expect(guest.call('mknod', '/b', 0o10644, 0)).toBe('EPERM');
    expect(guest.call('mknodat', 3, '/b', 0o10644, 0)).toBe('EPERM');
  });

  it('a process may lead its session and its group and stays there', () => {
    const guest = new Guest();
    expect(guest.call('setsid')).toBe('EPERM');
    expect(guest.call('setpgid', 0, 0)).toBe('EPERM');
    expect(guest.call('getsid', 0)).toBe(1000);
  });
});

describe('getdents64', () => {
  it('gives ., .. and sorted names, in as many calls as the buffer wants', () => {
    const tree = new MemoryTree({ 'd/b': '', 'd/a': '', 'd/c/x': '', 'd/l': { link: 'a' } });
    const guest = new Guest({}, tree);
    const fd = guest.call('open', '/d', O.DIRECTORY) as number;
    const names: [string, number][] = [];
    const into = guest.room(64);
    for (;;) {
      const got = guest.call('getdents64', fd, into, 64) as number;
      if (got === 0) break;
      for (let at = 0; at < got; ) {
        const entry = guest.bytes(into + BigInt(at), 64);
        const size = entry[16]! | (entry[17]! << 8);
        const text = new TextDecoder().decode(entry.subarray(19, entry.indexOf(0, 19)));
        names.push([text, entry[18]!]);
        at += size;
      }
    }
    // DT_DIR 4, DT_REG 8, DT_LNK 10
    expect(names).toEqual([
      ['.', 4],
      ['..', 4],
      ['a', 8],
      ['b', 8],
      ['c', 4],
      ['l', 10],
    ]);
    expect(guest.call('lseek', fd, 0, 0)).toBe(0);
    expect(guest.call('getdents64', fd, into, 64)).toBeGreaterThan(0);
  });
});

describe('a snapshot', () => {
  it('brings descriptors, positions, names, files and settings back', () => {
    const guest = new Guest({}, new MemoryTree({ f: 'contents' }));
    const fd = guest.call('open', '/f', O.RDWR) as number;
    const into = guest.room(16);
    guest.call('read', fd, into, 3);
    guest.call('prctl', 15, 'before');
    const saved = guest.kernel.capture();
    guest.call('read', fd, into, 3);
    guest.call('write', fd, 'XX', 2);
    guest.call('unlink', '/f');
    guest.call('close', fd);
    guest.call('prctl', 15, 'after');
    guest.call('prctl', 38, 1);
    guest.kernel.restore(saved);
    expect(guest.call('pread64', fd, into, 16, 0)).toBe(8);
    expect(guest.text(into, 8)).toBe('contents');
    expect(guest.call('read', fd, into, 16)).toBe(5);
    expect(guest.task.comm).toBe('before');
    expect(guest.call('prctl', 39)).toBe(0);
    expect(guest.call('access', '/f', 0)).toBe(0);
  });
});
