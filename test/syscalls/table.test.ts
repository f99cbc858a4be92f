import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Sys, syscallName } from '../../src/abi/syscalls.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import { Guest } from './guest.ts';

const TESTS = join(import.meta.dirname, '..');

/** Text of every C program and test that makes system calls. */
const callers = ['syscalls', 'syscalls/facts', 'kernel', 'kernel/facts']
  .flatMap((folder) => readdirSync(join(TESTS, folder)).map((name) => join(TESTS, folder, name)))
  .filter((path) => /\.(c|h|test\.ts)$/.test(path))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

/** `Q(read, …)`, `call('read', …)`, `SYS_read`, or a number of the freestanding programs' enum. */
const isCalled = (name: string): boolean =>
  new RegExp(
    `\\bQ\\(${name}\\b|call\\(\\s*'${name}'|SYS_${name}\\b|\\b${name.replace(/^rt_|_/g, '')} = \\d`,
    'i',
  ).test(callers);

describe('the table of system calls', () => {
  it('is in the order of numbers, each once', () => {
    const numbers = SYSCALL_ROWS.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('has the names and numbers of the ABI', () => {
    for (const { name, number } of SYSCALL_ROWS) expect(syscallName(number)).toBe(name);
  });

  it('says of every row that is not full what is missing', () => {
    const silent = SYSCALL_ROWS.filter(({ support, note }) => support !== 'full' && !note);
    expect(silent).toEqual([]);
  });

  it('has every row tested', () => {
    const rows = SYSCALL_ROWS.filter(({ support }) => support !== 'refused');
    expect(rows.map(({ name }) => name).filter((name) => !isCalled(name))).toEqual([]);
  });

  it('refuses what belongs to later work with ENOSYS and names it once', () => {
    const guest = new Guest();
    for (const { name } of SYSCALL_ROWS.filter(({ support }) => support === 'refused')) {
      guest.log.length = 0;
      const known = name as keyof typeof Sys;
      expect(guest.call(known), name).toBe('ENOSYS');
      expect(guest.call(known), name).toBe('ENOSYS');
      expect(guest.log, name).toHaveLength(1);
      expect(guest.log[0], name).toContain(`${name} (${Sys[known]})`);
    }
  });

  it('refuses clone, fork and execve among others', () => {
    const refused = SYSCALL_ROWS.filter(({ support }) => support === 'refused');
    expect(refused.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['clone', 'clone3', 'fork', 'vfork', 'execve', 'execveat', 'socket']),
    );
  });
});
