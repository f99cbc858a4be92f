import { describe, expect, it } from 'vitest';
import { O } from '../../src/abi/fcntl.ts';
import type { FileView } from '../../src/kernel/files/file-view.ts';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { openPath } from '../../src/kernel/files/opening.ts';
import { viewOf } from './view.ts';

const open = (view: FileView, path: string, flags: number = O.RDONLY) =>
  openPath(view, '/', path, { flags, mode: 0o644 });

const contents = (view: FileView, path: string): string => {
  const file = open(view, path);
  if (typeof file === 'string') return file;
  const into = new Uint8Array(100);
  const got = file.read(0n, into);
  return typeof got === 'number' ? new TextDecoder().decode(into.subarray(0, got)) : `${got}`;
};

describe('a read-only mount', () => {
  const view = viewOf({ f: 'x', 'd/g': '' });

  it.each([
    ['/f', O.RDONLY, 'object'],
    ['/f', O.WRONLY, 'EROFS'],
    ['/f', O.RDONLY | O.TRUNC, 'EROFS'],
    ['/f', O.RDONLY | O.CREAT, 'object'],
    ['/new', O.WRONLY | O.CREAT, 'EROFS'],
    ['/d', O.RDONLY, 'object'],
    ['/d', O.WRONLY, 'EISDIR'],
    ['/dev/new', O.WRONLY | O.CREAT, 'EACCES'],
    ['/dev/null', O.WRONLY | O.CREAT | O.TRUNC, 'object'],
    ['/proc/self', O.RDONLY, 'ENOENT'],
  ])('%s with flags %i: %s', (path, flags, expected) => {
    const file = open(view, path, flags);
    expect(typeof file === 'string' ? file : typeof file).toBe(expected);
  });
});

describe('a writable mount', () => {
  it('takes new files, keeps them, and the tree below the others does not change', () => {
    const tree = new MemoryTree({ old: 'old' });
    const view = viewOf({ f: 'x' });
    view.mount({ at: '/rw', tree, writable: true });
    const file = open(view, '/rw/new', O.RDWR | O.CREAT | O.EXCL);
    expect(typeof file === 'object' && file.write(0n, new TextEncoder().encode('hello'))).toBe(5);
    expect(contents(view, '/rw/new')).toBe('hello');
    expect(open(view, '/new', O.RDWR | O.CREAT)).toBe('EROFS');
    open(view, '/rw/old', O.WRONLY | O.TRUNC);
    expect(contents(view, '/rw/old')).toBe('');
  });

  it('creates through a dangling link where the link leads, never outside', () => {
    const view = viewOf({}, false);
    view.mount({
      at: '/rw',
      tree: new MemoryTree({ in: { link: 'made' }, out: { link: '/etc/made' } }),
      writable: true,
    });
    expect(typeof open(view, '/rw/in', O.WRONLY | O.CREAT)).toBe('object');
    expect(contents(view, '/rw/made')).toBe('');
    expect(open(view, '/rw/out', O.WRONLY | O.CREAT)).toBe('ENOENT');
    const view2 = viewOf({ 'etc/x': '' }, false);
    view2.mount({
      at: '/rw',
      tree: new MemoryTree({ out: { link: '/etc/made' } }),
      writable: true,
    });
    expect(open(view2, '/rw/out', O.WRONLY | O.CREAT)).toBe('EROFS');
  });

  it('lets the creator write a file that may not be written to', () => {
    const view = viewOf({}, true);
    const file = openPath(view, '/', '/f', { flags: O.WRONLY | O.CREAT, mode: 0o400 });
    expect(typeof file).toBe('object');
    expect(open(view, '/f', O.WRONLY)).toBe('EACCES');
  });

  it('has room for so many bytes and no more', () => {
    const view = viewOf();
    view.mount({ at: '/rw', tree: new MemoryTree({}, { capacity: 10 }), writable: true });
    const file = open(view, '/rw/f', O.RDWR | O.CREAT);
    if (typeof file === 'string') throw new Error(file);
    expect(file.write(0n, new Uint8Array(10))).toBe(10);
    expect(file.write(10n, new Uint8Array(1))).toBe('ENOSPC');
    // A hole of a terabyte takes no room on Linux; here the bytes are real.
    expect(file.write(1n << 40n, new Uint8Array(1))).toBe('ENOSPC');
    expect(file.write(1n << 60n, new Uint8Array(1))).toBe('EFBIG');
    expect(file.resize?.(1n << 62n)).toBe('EFBIG');
    expect(file.resize?.(4n)).toBe(null);
    expect(file.write(8n, new Uint8Array(2).fill(1))).toBe(2);
    const into = new Uint8Array(10);
    expect(file.read(0n, into)).toBe(10);
    expect([...into]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
  });
});

describe('an inode', () => {
  it('is one object by whichever path and mount the file is reached', () => {
    const tree = new MemoryTree({ 'lib/so': 'x', l: { link: 'lib/so' } });
    const view = viewOf();
    view.mount({ at: '/one', tree });
    view.mount({ at: '/two', tree, root: 'lib' });
    const inode = view.inode('/one/lib/so');
    expect(typeof inode).toBe('object');
    expect(view.inode('/one/l')).toBe(inode);
    expect(view.inode('/two/so')).toBe(inode);
    expect(view.inode('/one/../two/./so')).toBe(inode);
  });

  it('of equal numbers in different trees are different', () => {
    const view = viewOf();
    view.mount({ at: '/a', tree: new MemoryTree({ f: 'a' }) });
    view.mount({ at: '/b', tree: new MemoryTree({ f: 'b' }) });
    expect(view.inode('/a/f')).not.toBe(view.inode('/b/f'));
  });

  it('can be written to once a writable mount leads there', () => {
    const tree = new MemoryTree({ f: 'abc' });
    const view = viewOf();
    view.mount({ at: '/ro', tree });
    view.mount({ at: '/rw', tree, writable: true });
    const inode = view.inode('/ro/f');
    expect(open(view, '/ro/f', O.WRONLY)).toBe('EROFS');
    const file = open(view, '/rw/f', O.WRONLY);
    expect(typeof file === 'object' && file.write(0n, new TextEncoder().encode('X'))).toBe(1);
    const into = new Uint8Array(3);
    expect(typeof inode === 'object' && inode.read(0n, into)).toBe(3);
    expect(new TextDecoder().decode(into)).toBe('Xbc');
  });

  it('is none for directories, devices and /proc', () => {
    const view = viewOf({ 'd/f': '' });
    expect(view.inode('/d')).toBe('EISDIR');
    expect(view.inode('/dev/zero')).toBe('EACCES');
    expect(view.inode('/nothing')).toBe('ENOENT');
  });
});

describe('devices', () => {
  const view = viewOf();
  const read = (path: string, size: number): string => {
    const file = open(view, path);
    if (typeof file === 'string') return file;
    const into = new Uint8Array(size).fill(9);
    const got = file.read(0n, into);
    return typeof got === 'number' ? [...into.subarray(0, got)].join() : `${got}`;
  };

  it('give what Linux’s give', () => {
    expect(read('/dev/null', 3)).toBe('');
    expect(read('/dev/zero', 3)).toBe('0,0,0');
    expect(read('/dev/urandom', 3)).toBe('90,90,90');
    expect(open(view, '/dev/tty')).toBe('ENXIO');
    const full = open(view, '/dev/full', O.WRONLY);
    expect(typeof full === 'object' && full.write(0n, new Uint8Array(1))).toBe('ENOSPC');
  });

  it('have Linux’s numbers (Documentation/admin-guide/devices.txt)', () => {
    const numbers = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => {
      const place = view.find('/', `/dev/${name}`);
      return typeof place === 'object' && place.attributes.represents;
    });
    const expected = [
      [1, 3],
      [1, 5],
      [1, 7],
      [1, 8],
      [1, 9],
      [5, 0],
    ];
    expect(numbers).toEqual(expected.map(([major, minor]) => ({ major, minor })));
  });

  it('do not answer to names of Object.prototype', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(open(view, `/dev/${name}`)).toBe('ENOENT');
  });
});
