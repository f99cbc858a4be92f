import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { At } from '../../src/abi/auxv.ts';
import { ERRNO_NAMES, errnoName, errnoNumber, errnoText, fail } from '../../src/abi/errno.ts';
import { AtFlag, F, O } from '../../src/abi/fcntl.ts';
import { Madv, MapFlag } from '../../src/abi/mman.ts';
import { PtRegs } from '../../src/abi/ptregs.ts';
import { Frame, SigContext, SigInfoLayout, UContext } from '../../src/abi/sigframe.ts';
import { defaultAction, SiCode, Sig, signalName } from '../../src/abi/signals.ts';
import { Mode, makeDevice, Stat, Statx } from '../../src/abi/stat.ts';
import { Sys, syscallName } from '../../src/abi/syscalls.ts';
import { missing } from '../helpers/requirements.ts';

/** Kernel-internal errnos, which no header of user space has. */
const INTERNAL = /^E(RESTART.|NOTSUPP$)/;

/** Names here that the headers spell differently. */
const spelled: Readonly<Record<string, string>> = { MAP_BIT32: 'MAP_32BIT' };
/**
 * O_LARGEFILE is 0 for user space of x86-64, the kernel sets its own bit; SEGV_CPERR (10 in the kernel's
 * siginfo.h since 6.6) is younger than Debian 12's headers.
 */
const NOT_IN_HEADERS = new Set(['O_LARGEFILE', 'SEGV_CPERR']);

const prefixed = (prefix: string, table: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(table)
    .map(([name, value]): [string, number] => [`${prefix}${name}`, value])
    .map(([name, value]): [string, number] => [spelled[name] ?? name, value])
    .filter(([name]) => !NOT_IN_HEADERS.has(name));

const offsets = (
  struct: string,
  table: Readonly<Record<string, number>>,
  fields: Readonly<Record<string, string>>,
): [string, number][] =>
  Object.entries(fields).map(([name, field]) => [
    `offsetof(${struct}, ${field})`,
    table[name] ?? -1,
  ]);

/** C expressions and what they must be. */
const EXPECTED: readonly (readonly [string, number])[] = [
  ...ERRNO_NAMES.filter((name) => !INTERNAL.test(name)).map((name): [string, number] => [
    name,
    errnoNumber(name),
  ]),
  ...prefixed('', Sig),
  ...prefixed('', SiCode),
  ...prefixed('O_', O),
  ...prefixed('F_', F),
  ...prefixed('AT_', AtFlag),
  ...prefixed('AT_', At),
  ...prefixed('MADV_', Madv),
  ...prefixed('MAP_', MapFlag),
  ...prefixed('S_', Mode),
  ['sizeof(struct stat)', Stat.size],
  ...offsets('struct stat', Stat, {
    dev: 'st_dev',
    ino: 'st_ino',
    nlink: 'st_nlink',
    mode: 'st_mode',
    uid: 'st_uid',
    gid: 'st_gid',
    rdev: 'st_rdev',
    fileSize: 'st_size',
    blksize: 'st_blksize',
    blocks: 'st_blocks',
    atime: 'st_atim.tv_sec',
    mtimeNs: 'st_mtim.tv_nsec',
    ctime: 'st_ctim.tv_sec',
  }),
  ['sizeof(struct statx)', Statx.size],
  ...offsets('struct statx', Statx, {
    nlink: 'stx_nlink',
    mode: 'stx_mode',
    ino: 'stx_ino',
    fileSize: 'stx_size',
    blocks: 'stx_blocks',
    attributesMask: 'stx_attributes_mask',
    atime: 'stx_atime',
    btime: 'stx_btime',
    ctime: 'stx_ctime',
    mtime: 'stx_mtime',
    rdevMajor: 'stx_rdev_major',
    devMinor: 'stx_dev_minor',
    mountId: 'stx_mnt_id',
  }),
  ['sizeof(siginfo_t)', SigInfoLayout.size],
  ...offsets('siginfo_t', SigInfoLayout, {
    code: 'si_code',
    pid: 'si_pid',
    uid: 'si_uid',
    address: 'si_addr',
    value: 'si_value',
  }),
  ['sizeof(struct sigcontext)', SigContext.size],
  ...offsets('struct sigcontext', SigContext, {
    r8: 'r8',
    r15: 'r15',
    di: 'rdi',
    ax: 'rax',
    sp: 'rsp',
    ip: 'rip',
    flags: 'eflags',
    cs: 'cs',
    err: 'err',
    trapno: 'trapno',
    oldmask: 'oldmask',
    cr2: 'cr2',
    fpstate: 'fpstate',
  }),
  ...offsets('ucontext_t', UContext, {
    flags: 'uc_flags',
    link: 'uc_link',
    stackSp: 'uc_stack.ss_sp',
    stackFlags: 'uc_stack.ss_flags',
    stackSize: 'uc_stack.ss_size',
    mcontext: 'uc_mcontext',
    sigmask: 'uc_sigmask',
  }),
  // struct rt_sigframe is in no header: return address, the kernel's ucontext, siginfo.
  ['8 + offsetof(ucontext_t, uc_sigmask) + 8', Frame.siginfo],
  ...offsets('struct user_regs_struct', PtRegs, {
    r15: 'r15',
    bp: 'rbp',
    r11: 'r11',
    ax: 'rax',
    di: 'rdi',
    orig_ax: 'orig_rax',
    ip: 'rip',
    flags: 'eflags',
    sp: 'rsp',
    ss: 'ss',
  }),
];

const SOURCE = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/ucontext.h>
#include <sys/user.h>
#include <linux/auxvec.h>
#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#define AT_RSEQ_ALIGN 28
#endif
int main(void) {
${EXPECTED.map(([expression]) => `  printf("%lld\\n", (long long)(${expression}));`).join('\n')}
  printf("%lld\\n", (long long)makedev(0x12345, 0x6789a));
  for (int i = 1; i < 134; i++) if (strerrorname_np(i)) printf("%d %s\\n", i, strerror(i));
}
`;

describe('numbers and layouts are those of the C headers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trapline-abi-'));
  let lines: string[] = [];
  beforeAll(() => {
    if (missing('gcc') !== null) return;
    writeFileSync(join(folder, 'abi.c'), SOURCE);
    execFileSync('gcc', ['-w', '-o', join(folder, 'abi'), join(folder, 'abi.c')]);
    lines = execFileSync(join(folder, 'abi'), { encoding: 'utf8' }).trimEnd().split('\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('constants, sizes and offsets', (ctx) => {
    const note = missing('gcc');
    if (note !== null) ctx.skip(note);
    const real = EXPECTED.map(([expression], i) => `${expression} = ${lines[i]}`);
    expect(EXPECTED.map(([expression, value]) => `${expression} = ${value}`)).toEqual(real);
    expect(`${makeDevice(0x12345, 0x6789a)}`).toBe(lines[EXPECTED.length]);
  });

  it('texts of errnos', (ctx) => {
    const note = missing('gcc');
    if (note !== null) ctx.skip(note);
    const ours = ERRNO_NAMES.filter((name) => !INTERNAL.test(name));
    expect(ours.map((name) => `${errnoNumber(name)} ${errnoText(name)}`)).toEqual(
      lines.slice(EXPECTED.length + 1),
    );
  });

  it('system call numbers the header has', (ctx) => {
    const note = missing('gcc');
    if (note !== null) ctx.skip(note);
    const macros = execFileSync('gcc', ['-dM', '-E', '-include', 'asm/unistd_64.h', '-'], {
      encoding: 'utf8',
      input: '',
    });
    const real = [...macros.matchAll(/^#define __NR_(\w+) (\d+)$/gm)];
    expect(real.length).toBeGreaterThan(300);
    for (const [, name = '', number] of real)
      expect(Sys[name as keyof typeof Sys]).toBe(Number(number));
  });
});

describe('look-ups', () => {
  it('go both ways', () => {
    expect(errnoName(2)).toBe('ENOENT');
    expect(errnoName(4000)).toBeUndefined();
    expect(fail('ENOSYS')).toBe(-38n);
    expect(syscallName(231)).toBe('exit_group');
    expect(syscallName(335)).toBeUndefined();
    expect([9, 32, 35, 64, 65].map(signalName)).toEqual([
      'SIGKILL',
      'SIGRTMIN',
      'SIGRTMIN+3',
      'SIGRTMIN+32',
      '65',
    ]);
  });

  it('know the default actions of signal(7)', () => {
    const by = (action: string) =>
      Object.values(Sig).filter((one) => defaultAction(one) === action);
    expect(by('core')).toEqual([3, 4, 5, 6, 7, 8, 11, 24, 25, 31]);
    expect(by('ignore')).toEqual([17, 23, 28]);
    expect(by('stop')).toEqual([19, 20, 21, 22]);
    expect(by('continue')).toEqual([18]);
    expect(defaultAction(40)).toBe('term');
  });
});
