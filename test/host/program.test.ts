import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errnoOf } from '../../src/host/node/host-errors.ts';
import { hostMount, hostProgram, hostRoot } from '../../src/host/node/program.ts';
import { viewOf, where } from '../files/view.ts';

let dir = '';

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'trapline-program-')));
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'prog'), 'bytes');
  writeFileSync(join(dir, 'sub', 'file'), '');
  symlinkSync('prog', join(dir, 'link'));
  symlinkSync('nowhere', join(dir, 'dangling'));
  execFileSync('mkfifo', [join(dir, 'fifo')]);
});
afterAll(() => rmSync(dir, { recursive: true }));

describe('hostProgram', () => {
  it('shows one file at its absolute path and nothing beside it', () => {
    const program = hostProgram(relative(process.cwd(), join(dir, 'prog')));
    expect(program.path).toBe(join(dir, 'prog'));
    const view = viewOf();
    view.mount({ at: program.path, tree: program.tree, root: program.file });
    expect(where(view, program.path)).toBe(program.path);
    expect(where(view, join(dir, 'sub'))).toBe('ENOENT');
    expect(typeof view.inode(program.path)).toBe('object');
  });

  it('follows the user’s own link and keeps the name the user gave', () => {
    const program = hostProgram(join(dir, 'link'));
    expect(program).toMatchObject({ path: join(dir, 'link'), file: 'prog' });
  });

  it.each([
    ['nothing', 'ENOENT'],
    ['dangling', 'ENOENT'],
    ['prog/x', 'ENOTDIR'],
    ['sub', 'EACCES'],
    ['fifo', 'EACCES'],
    ['a\0b', 'EINVAL'],
  ])('says what is wrong with %j', (name, errno) => {
    expect(() => hostProgram(join(dir, name))).toThrow(
      expect.objectContaining({ code: 'file-missing', errno }),
    );
  });
});

describe('hostMount and hostRoot', () => {
  it('show a directory or a single file', () => {
    const view = viewOf();
    view.mount(hostMount(dir, '/d'));
    view.mount(hostMount(join(dir, 'sub', 'file'), '/etc/config'));
    expect(where(view, '/d/sub/file')).toBe('/d/sub/file');
    expect(where(view, '/etc/config')).toBe('/etc/config');
    expect(where(view, '/d/dangling')).toBe('ENOENT');
    // Reached by two mounts, it is one file.
    expect(view.inode('/d/sub/file')).toBe(view.inode('/etc/config'));
  });

  it('take no empty path for the current directory', () => {
    for (const open of [hostProgram, hostRoot, (path: string) => hostMount(path, '/d')])
      expect(() => open('')).toThrow(expect.objectContaining({ errno: 'ENOENT' }));
  });

  it('refuse what is not there, and a file as root', () => {
    expect(() => hostMount(join(dir, 'nothing'), '/d')).toThrow(
      /cannot read .*nothing: no such file \(ENOENT\)/,
    );
    expect(() => hostRoot(join(dir, 'prog'))).toThrow(
      expect.objectContaining({ code: 'bad-option', errno: 'ENOTDIR' }),
    );
  });
});

describe('errnoOf', () => {
  it.each([
    [{ code: 'ENOENT' }, 'ENOENT'],
    [{ code: 'EMFILE' }, 'ENFILE'],
    [{ code: 'ERR_OUT_OF_RANGE' }, 'EIO'],
    [{}, 'EIO'],
  ])('%j is %s', (fields, expected) => {
    expect(errnoOf(Object.assign(new Error('host'), fields))).toBe(expected);
  });
});
