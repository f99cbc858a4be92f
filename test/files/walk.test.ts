import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { nameFromBytes } from '../../src/kernel/files/names.ts';
import type { FileTree } from '../../src/kernel/files/tree.ts';
import { viewOf, where } from './view.ts';

describe('a path', () => {
  const view = viewOf({
    'etc/passwd': 'guest',
    'usr/bin/ls': '',
    bin: { link: 'usr/bin' },
    'usr/up': { link: '../..' },
    'usr/abs': { link: '/etc/passwd' },
    'usr/far': { link: '../../../../../../etc/passwd' },
    loop: { link: 'loop' },
    ping: { link: 'pong' },
    pong: { link: './ping' },
    self: { link: '.' },
    gone: { link: 'nowhere' },
    slash: { link: 'etc/' },
    fileslash: { link: 'etc/passwd/' },
  });

  it.for<[path: string, expected: string]>([
    ['/', '/'],
    ['//', '/'],
    ['.', '/'],
    ['..', '/'],
    ['/../../..', '/'],
    ['/etc//./passwd', '/etc/passwd'],
    ['/bin/ls', '/usr/bin/ls'],
    ['/bin/../abs', '/etc/passwd'],
    ['/usr/up', '/'],
    ['/usr/up/etc', '/etc'],
    ['/usr/abs', '/etc/passwd'],
    ['/usr/far', '/etc/passwd'],
    ['/self/self/self/etc', '/etc'],
    ['/etc/passwd/', 'ENOTDIR'],
    ['/etc/passwd/.', 'ENOTDIR'],
    ['/etc/passwd/..', 'ENOTDIR'],
    ['/loop', 'ELOOP'],
    ['/ping', 'ELOOP'],
    ['/gone', 'ENOENT'],
    ['/gone/x', 'ENOENT'],
    ['/slash', '/etc'],
    ['/fileslash', 'ENOTDIR'],
    ['/nowhere', 'ENOENT'],
    ['', 'ENOENT'],
    [`/${'a'.repeat(256)}`, 'ENAMETOOLONG'],
    [`/${'é'.repeat(128)}`, 'ENAMETOOLONG'],
    [`/${'a'.repeat(255)}`, 'ENOENT'],
    ['/'.repeat(4096), 'ENAMETOOLONG'],
    ['/'.repeat(4095), '/'],
  ])('case %#', ([path, expected]) => {
    expect(where(view, path)).toBe(expected);
  });

  it('may follow 40 links and no more', () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, i) => [`l${i}`, { link: i === 0 ? 'end' : `l${i - 1}` }]),
      );
    const deep = viewOf({ end: '', ...chain(45) });
    expect(where(deep, '/l39')).toBe('/end');
    expect(where(deep, '/l40')).toBe('ELOOP');
  });

  it('starts at the working directory unless it is absolute', () => {
    expect(where(view, 'bin/ls', '/usr')).toBe('/usr/bin/ls');
    expect(where(view, '../etc', '/usr')).toBe('/etc');
    expect(where(view, '/etc', '/usr')).toBe('/etc');
  });

  it('is given to trees only in parts they need not interpret, whatever the guest says', () => {
    const inner = new MemoryTree({ 'a/b': '', l: { link: '../../a/./b' } });
    const asked: string[] = [];
    const spy: FileTree = {
      domain: inner,
      attributes: (path) => {
        asked.push(path);
        return inner.attributes(path);
      },
      readlink: (path) => inner.readlink(path),
      list: (path) => inner.list(path),
      open: (path) => inner.open(path),
    };
    const spied = viewOf();
    spied.mount({ at: '/m', tree: spy });
    const part = fc.constantFrom('a', 'b', 'l', '..', '.', '', 'm', 'x', '\u0001', '\udcff');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        spied.find('/m', `/m/${parts.join('/')}`);
      }),
    );
    const bad = asked.filter(
      (path) => path !== '' && path.split('/').some((name) => ['', '.', '..'].includes(name)),
    );
    expect(bad).toEqual([]);
  });

  it('may hold any bytes', () => {
    const odd = nameFromBytes(Uint8Array.of(0xff, 0xfe, 0x80));
    expect(where(viewOf({ [odd]: 'x' }), `/${odd}`)).toBe(`/${odd}`);
  });
});

describe('mounts', () => {
  it('go below /dev where no device is, and never below /proc', () => {
    const view = viewOf();
    view.mount({ at: '/dev/shm/d', tree: new MemoryTree({ f: 'x' }) });
    expect(where(view, '/dev/shm/d/f')).toBe('/dev/shm/d/f');
    expect(where(view, '/dev/null')).toBe('/dev/null');
    for (const at of ['/dev', '/dev/null', '/proc', '/proc/1'])
      expect(() => view.mount({ at, tree: new MemoryTree({}) })).toThrow(/kernel’s own/);
  });

  it('show the program at its own path although nothing else is there', () => {
    const view = viewOf();
    view.mount({
      at: '/home/me/prog',
      tree: new MemoryTree({ prog: 'p', other: 'o' }),
      root: 'prog',
    });
    expect(where(view, '/home/me/prog')).toBe('/home/me/prog');
    expect(where(view, '/home/me/other')).toBe('ENOENT');
    expect(where(view, '/home/me/prog/..')).toBe('ENOTDIR');
    expect(where(view, '/home/me/../me')).toBe('/home/me');
    const home = view.find('/', '/home');
    expect(typeof home === 'object' && view.mounts.list(home)).toMatchObject([{ name: 'me' }]);
  });

  it('cover what lies below them and are listed beside it', () => {
    const view = viewOf({ 'a/x': 'old', 'a/y': 'y', 'b/c': '' });
    view.mount({ at: '/a/x', tree: new MemoryTree({ f: 'new' }), root: 'f' });
    view.mount({ at: '/b', tree: new MemoryTree({ d: '' }) });
    const inode = view.inode('/a/x');
    const into = new Uint8Array(3);
    expect(typeof inode === 'object' && inode.read(0n, into)).toBe(3);
    expect(new TextDecoder().decode(into)).toBe('new');
    expect(where(view, '/b/c')).toBe('ENOENT');
    expect(where(view, '/b/d')).toBe('/b/d');
    const a = view.find('/', '/a');
    expect(typeof a === 'object' && view.mounts.list(a)).toMatchObject([
      { name: 'x' },
      { name: 'y' },
    ]);
  });

  it('resolve links of the view in their own path', () => {
    const view = viewOf({ 'usr/bin/ls': '', bin: { link: 'usr/bin' } });
    view.mount({ at: '/bin/tool', tree: new MemoryTree({ t: 'x' }), root: 't' });
    expect(where(view, '/usr/bin/tool')).toBe('/usr/bin/tool');
    expect(where(view, '/bin/tool')).toBe('/usr/bin/tool');
  });

  it('leave `..` of a mounted root in the view', () => {
    const view = viewOf({ 'top/x': '' });
    view.mount({
      at: '/top/m',
      tree: new MemoryTree({ up: { link: '../..' }, abs: { link: '/' } }),
    });
    expect(where(view, '/top/m/..')).toBe('/top');
    expect(where(view, '/top/m/up')).toBe('/');
    expect(where(view, '/top/m/abs/top')).toBe('/top');
  });

  it.each([
    ['relative', 'x', ''],
    ['below a file', '/f/x', ''],
    ['over /proc', '/proc/self', ''],
    ['over /dev', '/dev', ''],
    ['with a root that is missing', '/x', 'nothing'],
    ['of a link', '/x', 'l'],
    ['of a file as /', '/', 'f'],
  ])('are refused %s', (_why, at, root) => {
    const tree = new MemoryTree({ f: '', l: { link: 'f' } });
    expect(() => viewOf({ f: '' }).mount({ at, tree, root })).toThrow(
      expect.objectContaining({ code: 'bad-option' }),
    );
  });
});
