import { describe, expect, it } from 'vitest';
import { brokenFiles } from './broken-files.ts';
import { expectComplaint, trapline } from './cli.ts';

const FILES = brokenFiles();

/** What the one line says; the same for every command that reads a program. */
const CASES: Readonly<Record<string, RegExp>> = {
  empty: /empty: the file is empty/,
  text: /text: not an ELF file/,
  arm: /arm: .*(machine|x86-64)/,
  '32-bit': /32-bit: .*(64-bit|class|x86-64)/,
  'half-header': /half-header: /,
  'table-outside': /table-outside: /,
  directory: /directory: .*directory/,
  missing: /missing: .*(ENOENT|no such file)/,
  'text/inside': /text\/inside: .*(ENOTDIR|no directory)/,
};

/** Files that only running them finds wrong. */
const RUN_CASES: Readonly<Record<string, RegExp>> = {
  ...CASES,
  dynamic: /dynamic: .*\/lib\/nowhere\.so.*--root/,
  truncated: /truncated: /,
  'no-segments': /no-segments: /,
  'segment-outside': /segment-outside: /,
  'segment-huge': /segment-huge: /,
};

describe('a program that cannot be read is one line and status 125', () => {
  for (const [name, message] of Object.entries(CASES))
    it(`list ${name}`, () => expectComplaint(trapline(['list', FILES[name]!]), 125, message));
  for (const [name, message] of Object.entries(RUN_CASES))
    it(`run ${name}`, () => expectComplaint(trapline(['run', FILES[name]!]), 125, message));

  it('explain text', () =>
    expectComplaint(trapline(['explain', `${FILES.text!}:0x10`]), 125, /text: not an ELF file/));

  it('run without permission', () => {
    // Root reads everything: ask as somebody else.
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    for (const args of [
      ['run', FILES.unreadable!],
      ['list', FILES.unreadable!],
    ])
      expectComplaint(trapline(args, user), 125, /unreadable: .*(EACCES|permission)/);
  });

  it('the line tells nothing of where in our code it happened', () => {
    expect(trapline(['run', FILES.text!]).stderr).not.toMatch(/\.[jt]s:\d+/);
  });
});
