import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mapsText } from '../../src/kernel/files/proc/maps.ts';
import type { Inode } from '../../src/memory/backing.ts';
import type { Vma } from '../../src/memory/vma.ts';
import { Guest } from '../syscalls/guest.ts';

/** Printed by Linux 6.18 for a program with odd mappings (`setarch -R`); `·` is a blank at a line's end. */
const RECORDED = `\
00400000-00401000 r--p 00000000 fe:00 2155729                            /tmp/fs/mp
00401000-00479000 r-xp 00001000 fe:00 2155729                            /tmp/fs/mp
004a7000-004ac000 rw-p 00000000 00:00 0·
004ac000-004ce000 rw-p 00000000 00:00 0                                  [heap]
10000000-10001000 r--p 00001000 fe:00 2155970                            /tmp/fs/x/a\\012b \\c
20000000-20001000 rw-s 00000000 fe:00 2155970                            /tmp/fs/x/a\\012b \\c
30000000-30001000 --xp 1234567000 fe:00 2155986                          /tmp/fs/x/big
100000000000-100000001000 ---p 00000000 00:00 0·
7ffff7ffd000-7ffff7fff000 r-xp 00000000 00:00 0                          [vdso]
7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]
`.replaceAll('·', ' ');

const LINE =
  /^([0-9a-f]+)-([0-9a-f]+) ([r-])([w-])([x-])([ps]) ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) *(.*)$/;

const hex = (text: string | undefined): bigint => BigInt(`0x${text}`);

/** The vma behind a line. */
const parse = (line: string): Vma => {
  const [, start, end, r, w, x, kind, offset, major, minor, number, name = ''] =
    LINE.exec(line) ?? [];
  const file: Inode | null =
    number === '0'
      ? null
      : {
          device: { major: Number(hex(major)), minor: Number(hex(minor)) },
          number: BigInt(number ?? ''),
          path: name.replaceAll('\\012', '\n'),
          size: 0n,
          read: () => 0,
        };
  return {
    start: hex(start),
    end: hex(end),
    prot: (r === 'r' ? 1 : 0) | (w === 'w' ? 2 : 0) | (x === 'x' ? 4 : 0),
    shared: kind === 's',
    growsDown: false,
    file,
    offset: hex(offset),
    mayExec: true,
    special: null,
    label: file === null && name !== '' ? name : null,
  };
};

const again = (text: string): string =>
  mapsText(text.trimEnd().split('\n').map(parse), { brkStart: 0n, brk: 0n });

describe('/proc/PID/maps', () => {
  it('is printed as Linux 6.18 prints it', () => {
    expect(again(RECORDED)).toBe(RECORDED);
  });

  it('is printed as this machine’s kernel prints it', (ctx) => {
    ctx.skip(process.platform !== 'linux', 'needs Linux');
    const live = readFileSync('/proc/self/maps', 'utf8');
    expect(again(live)).toBe(live);
  });
});

describe('the guest’s /proc', () => {
  const read = (guest: Guest, path: string): string => {
    const fd = guest.call('open', path, 0);
    if (typeof fd !== 'number') return `${fd}`;
    const into = guest.room(0x800);
    const got = guest.call('read', fd, into, 0x800);
    guest.call('close', fd);
    return typeof got === 'number' ? guest.text(into, got) : `${got}`;
  };
  const link = (guest: Guest, path: string): string => {
    const into = guest.room(64);
    const got = guest.call('readlink', path, into, 64);
    return typeof got === 'number' ? guest.text(into, got) : `${got}`;
  };

  it('shows the process itself and nobody else', () => {
    const guest = new Guest();
    expect(link(guest, '/proc/self')).toBe('1000');
    expect(link(guest, '/proc/self/exe')).toBe('/prog');
    expect(read(guest, '/proc/1000/comm')).toBe('prog\n');
    expect(read(guest, '/proc/1/comm')).toBe('ENOENT');
    expect(read(guest, '/proc/cpuinfo')).toBe('ENOENT');
    expect(read(guest, '/proc/self/nothing')).toBe('ENOENT');
    expect(read(guest, '/proc/self/constructor')).toBe('ENOENT');
    expect(read(guest, '/proc/self/maps/x')).toBe('ENOTDIR');
  });

  it('has maps that follow the address space', () => {
    const guest = new Guest();
    expect(read(guest, '/proc/self/maps')).toBe('00010000-00012000 rw-p 00000000 00:00 0 \n');
    guest.call('brk', 0x601000n);
    guest.call('mprotect', 0x11000n, 0x1000n, 1);
    expect(read(guest, '/proc/self/maps').split('\n')).toEqual([
      '00010000-00011000 rw-p 00000000 00:00 0 ',
      '00011000-00012000 r--p 00000000 00:00 0 ',
      '00600000-00601000 rw-p 00000000 00:00 0                                  [heap]',
      '',
    ]);
  });

  it('calls whatever lies over the heap [heap], as musl’s guard page', () => {
    const guest = new Guest();
    guest.call('brk', 0x602000n);
    // What musl's malloc does under Linux 6.18: mmap(brk, 4096, PROT_NONE, MAP_FIXED | …).
    guest.call('mmap', 0x600000n, 0x1000n, 0, 0x32, -1, 0);
    expect(read(guest, '/proc/self/maps').split('\n')[1]).toBe(
      '00600000-00601000 ---p 00000000 00:00 0                                  [heap]',
    );
  });

  it('keeps the text of maps while it is read in pieces', () => {
    const guest = new Guest();
    const fd = guest.call('open', '/proc/self/maps', 0) as number;
    const into = guest.room(0x400);
    expect(guest.call('read', fd, into, 10)).toBe(10);
    guest.call('brk', 0x601000n);
    expect(guest.call('read', fd, into, 0x400)).toBe(41 - 10);
    expect(guest.call('lseek', fd, 0, 0)).toBe(0);
    expect(guest.call('read', fd, into, 0x400)).toBeGreaterThan(41);
  });

  it('has the auxiliary vector’s bytes', () => {
    const guest = new Guest();
    expect(read(guest, '/proc/self/auxv')).toBe('\0'.repeat(16));
  });

  it('has status lines in the kernel’s order and form', () => {
    const guest = new Guest();
    guest.call('prctl', 15, 'naïve');
    guest.call('umask', 0o27);
    const lines = read(guest, '/proc/self/status').trimEnd().split('\n');
    const value = (name: string) => lines.find((line) => line.startsWith(`${name}:`));
    expect(value('Name')).toBe('Name:\tnaïve');
    expect(value('Umask')).toBe('Umask:\t0027');
    expect(value('State')).toBe('State:\tR (running)');
    expect(value('Pid')).toBe('Pid:\t1000');
    expect(value('Uid')).toBe('Uid:\t1000\t1000\t1000\t1000');
    // Two pages of room are all that is mapped: 8 kB, eight columns wide as %8lu prints it.
    expect(value('VmSize')).toBe('VmSize:\t       8 kB');
    expect(value('SigBlk')).toBe('SigBlk:\t0000000000000000');
    const names = lines.map((line) => line.slice(0, line.indexOf(':')));
    const kernel = KERNEL_ORDER.split(' ');
    expect(names.filter((name) => !kernel.includes(name))).toEqual([]);
    expect(names).toEqual(kernel.filter((name) => names.includes(name)));
  });

  it('opens what a descriptor has open', () => {
    const guest = new Guest();
    expect(link(guest, '/proc/self/fd/1')).toBe('pipe:[2]');
    expect(link(guest, '/proc/self/fd/7')).toBe('ENOENT');
    expect(link(guest, '/proc/self/fd/01')).toBe('ENOENT');
    const fd = guest.call('open', '/dev/stdout', 1);
    expect(guest.call('write', fd as number, 'hi', 2)).toBe(2);
    expect(guest.stdout).toBe('hi');
    const pair = guest.room(8);
    guest.call('pipe', pair);
    const other = guest.call('open', '/proc/self/fd/5', 1);
    expect(other).toBe(6);
    guest.call('write', 6, 'x', 1);
    expect(guest.call('read', 4, pair, 8)).toBe(1);
  });

  it('and /dev refuse changes as Linux 6.18 does for an ordinary user', () => {
    const guest = new Guest();
    expect(guest.call('open', '/proc/self/maps', 1)).toBe('EACCES');
    expect(guest.call('unlink', '/proc/self/maps')).toBe('EPERM');
    expect(guest.call('mkdir', '/proc/x', 0o755)).toBe('ENOENT');
    expect(guest.call('mkdir', '/proc/self/x', 0o755)).toBe('ENOENT');
    expect(guest.call('open', '/proc/x', 0o101, 0o644)).toBe('ENOENT');
    expect(guest.call('chmod', '/proc/self/maps', 0)).toBe('EPERM');
    expect(guest.call('access', '/proc/self/maps', 2)).toBe('EACCES');
    expect(guest.call('unlink', '/dev/null')).toBe('EACCES');
    expect(guest.call('open', '/dev/new', 0o101, 0o644)).toBe('EACCES');
  });
});

/** Field names of `/proc/self/status` in the order of Linux 6.18. */
const KERNEL_ORDER =
  'Name Umask State Tgid Ngid Pid PPid TracerPid Uid Gid FDSize Groups NStgid NSpid NSpgid NSsid Kthread ' +
  'VmPeak VmSize VmLck VmPin VmHWM VmRSS RssAnon RssFile RssShmem VmData VmStk VmExe VmLib VmPTE VmSwap ' +
  'HugetlbPages CoreDumping THP_enabled untag_mask Threads SigQ SigPnd ShdPnd SigBlk SigIgn SigCgt CapInh ' +
  'CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters Speculation_Store_Bypass ' +
  'SpeculationIndirectBranch Cpus_allowed Cpus_allowed_list Mems_allowed Mems_allowed_list ' +
  'voluntary_ctxt_switches nonvoluntary_ctxt_switches';
