import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HostTree } from '../../src/host/node/tree.ts';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { nameFromBytes } from '../../src/kernel/files/names.ts';
import { Guest } from '../syscalls/guest.ts';

const RDONLY = 0;
const WRONLY_CREAT = 0o101;
const RDWR_TRUNC = 0o1002;

let top = '';
/** What the guest must never get at. */
let secret = '';
/** The tree it is given. */
let inside = '';

beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'trapline-tree-'));
  secret = join(top, 'outside');
  inside = join(top, 'inside');
  mkdirSync(secret);
  mkdirSync(join(inside, 'dir', 'sub'), { recursive: true });
  writeFileSync(join(secret, 'secret'), 'secret');
  writeFileSync(join(inside, 'file'), 'contents');
  writeFileSync(join(inside, 'dir', 'deep'), 'deep');
  symlinkSync('/etc/passwd', join(inside, 'passwd'));
  symlinkSync('../outside/secret', join(inside, 'relative'));
  symlinkSync(secret, join(inside, 'absolute'));
  symlinkSync('../outside', join(inside, 'updir'));
  symlinkSync('../../../../../../../etc', join(inside, 'dir', 'etc'));
  symlinkSync('loop', join(inside, 'loop'));
  symlinkSync('dir/deep', join(inside, 'fine'));
  symlinkSync('../outside/made', join(inside, 'dangling'));
  symlinkSync('/proc/self/root/etc/passwd', join(inside, 'procroot'));
  execFileSync('mkfifo', [join(inside, 'fifo')]);
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const guestWith = (writable = false): Guest => {
  const guest = new Guest({}, new MemoryTree({ 'etc/hostname': 'guest\n' }));
  guest.view.mount({ at: '/m', tree: new HostTree(inside, { writable }), writable });
  return guest;
};

const read = (guest: Guest, path: string): string => {
  const fd = guest.call('open', path, RDONLY);
  if (typeof fd !== 'number') return String(fd);
  const into = guest.room(64);
  const got = guest.call('read', fd, into, 64);
  guest.call('close', fd);
  return typeof got === 'number' ? guest.text(into, got) : String(got);
};

describe('a tree of the host', () => {
  it('is read', () => {
    const guest = guestWith();
    expect(read(guest, '/m/file')).toBe('contents');
    expect(read(guest, '/m/fine')).toBe('deep');
    expect(read(guest, '/m/dir/sub/../../file')).toBe('contents');
    const stat = guest.room(144);
    expect(guest.call('stat', '/m/file', stat)).toBe(0);
    expect(guest.u64(stat + 48n)).toBe(8n);
    expect(guest.u64(stat + 8n)).toBe(statSync(join(inside, 'file'), { bigint: true }).ino);
  });

  it.for<[path: string, expected: string]>([
    // Each of these leads to a file on the host; in the guest's view there is none there.
    ['/m/passwd', 'ENOENT'],
    ['/m/relative', 'ENOENT'],
    ['/m/absolute/secret', 'ENOENT'],
    ['/m/updir/secret', 'ENOENT'],
    ['/m/dir/etc/passwd', 'ENOENT'],
    ['/m/procroot', 'ENOENT'],
    ['/m/../../outside/secret', 'ENOENT'],
    ['/m/../../../../../../../../etc/passwd', 'ENOENT'],
    ['/m/dir/../../../etc/passwd', 'ENOENT'],
    ['/m/loop', 'ELOOP'],
    ['/m/loop/x', 'ELOOP'],
    // A link to /etc is the guest's own /etc.
    ['/m/dir/etc/hostname', 'guest\n'],
    // Not opened, and above all not waited for.
    ['/m/fifo', 'ENXIO'],
    [`/m/${'x'.repeat(300)}`, 'ENAMETOOLONG'],
    [`/m${'/x'.repeat(3000)}`, 'ENAMETOOLONG'],
    [`/m${'/dir/..'.repeat(580)}/file`, 'contents'],
  ])('case %#', ([path, expected]) => {
    expect(read(guestWith(), path)).toBe(expected);
    expect(read(guestWith(true), path)).toBe(expected);
  });

  it('does not open devices and sockets', async () => {
    const made = spawnSync('mknod', [join(inside, 'zero'), 'c', '1', '5']);
    if (made.status === 0) expect(read(guestWith(), '/m/zero')).toBe('EACCES');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(inside, 'socket'), resolve));
    expect(read(guestWith(), '/m/socket')).toBe('ENXIO');
    server.close();
  });

  it('cannot be changed unless it is mounted so', () => {
    const guest = guestWith();
    expect(guest.call('open', '/m/file', RDWR_TRUNC)).toBe('EROFS');
    expect(guest.call('open', '/m/new', WRONLY_CREAT, 0o644)).toBe('EROFS');
    expect(guest.call('unlink', '/m/file')).toBe('EROFS');
    expect(guest.call('mkdir', '/m/new', 0o755)).toBe('EROFS');
    expect(guest.call('rename', '/m/file', '/m/other')).toBe('EROFS');
    expect(guest.call('truncate', '/m/file', 0)).toBe('EROFS');
    expect(guest.call('chmod', '/m/file', 0o777)).toBe('EROFS');
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('contents');
  });

  it('is the tree’s own business too: it refuses what the walk never asks', () => {
    const tree = new HostTree(inside, { writable: true });
    for (const path of ['../outside/secret', 'dir/../../outside/secret', './file', 'dir//deep'])
      expect(tree.open(path, 'read'), path).toBe('EINVAL');
    expect(tree.open('updir/secret', 'read')).toBe('ELOOP');
    expect(tree.open('relative', 'read')).toBe('ELOOP');
    expect(tree.list('updir')).toBe('ENOTDIR');
    expect(tree.attributes('updir/secret')).toBe('ELOOP');
    expect(tree.changes?.removeFile('updir/secret')).toBe('ELOOP');
    expect(tree.changes?.createFile('updir/new', 0o644)).toBe('ELOOP');
    expect(tree.changes?.rename('file', 'updir/stolen')).toBe('ELOOP');
    expect(tree.changes?.rename('updir/secret', 'stolen')).toBe('ELOOP');
    expect(tree.changes?.setMode('relative', 0o777)).toBe('ELOOP');
    expect(tree.open('a\0b', 'read')).toBe('ENOENT');
    expect(readFileSync(join(secret, 'secret'), 'utf8')).toBe('secret');
  });

  it('notices that a directory was swapped for a link after it was walked', () => {
    const tree = new HostTree(inside);
    mkdirSync(join(inside, 'swap'));
    writeFileSync(join(inside, 'swap', 'secret'), 'mine');
    expect(typeof tree.attributes('swap/secret')).toBe('object');
    renameSync(join(inside, 'swap'), join(inside, 'swapped'));
    symlinkSync('../outside', join(inside, 'swap'));
    expect(tree.open('swap/secret', 'read')).toBe('ELOOP');
  });

  it('has names of any bytes', () => {
    const bytes = Buffer.from([0xff, 0x0a, 0x80, 0x61]);
    writeFileSync(Buffer.concat([Buffer.from(`${inside}/dir/sub/`), bytes]), 'odd');
    const name = nameFromBytes(bytes);
    const guest = guestWith(true);
    expect(read(guest, `/m/dir/sub/${name}`)).toBe('odd');
    const tree = new HostTree(inside);
    expect(tree.list('dir/sub')).toMatchObject([{ name, kind: 'file' }]);
    expect(guest.call('unlink', `/m/dir/sub/${name}`)).toBe(0);
    expect(tree.list('dir/sub')).toEqual([]);
  });
});

describe('a writable tree of the host', () => {
  it('takes files, directories, names and modes', () => {
    const guest = guestWith(true);
    guest.call('umask', 0o027);
    const fd = guest.call('open', '/m/new', WRONLY_CREAT, 0o666) as number;
    expect(guest.call('write', fd, 'hello', 5)).toBe(5);
    expect(guest.call('pwrite64', fd, 'J', 1, 0)).toBe(1);
    expect(guest.call('ftruncate', fd, 4)).toBe(0);
    expect(readFileSync(join(inside, 'new'), 'utf8')).toBe('Jell');
    expect(statSync(join(inside, 'new')).mode & 0o7777).toBe(0o640);
    expect(guest.call('mkdir', '/m/made', 0o777)).toBe(0);
    expect(guest.call('rename', '/m/new', '/m/made/old')).toBe(0);
    expect(guest.call('write', fd, 'X', 1)).toBe(1);
    expect(readFileSync(join(inside, 'made', 'old'), 'utf8')).toBe('Jell\0X');
    expect(guest.call('rmdir', '/m/made')).toBe('ENOTEMPTY');
    expect(guest.call('unlink', '/m/made/old')).toBe(0);
    expect(guest.call('rmdir', '/m/made')).toBe(0);
    expect(existsSync(join(inside, 'made'))).toBe(false);
  });

  it('never gets set-user-id programs', () => {
    const guest = guestWith(true);
    const fd = guest.call('open', '/m/suid', WRONLY_CREAT, 0o4755) as number;
    guest.call('fchmod', fd, 0o6755);
    expect(statSync(join(inside, 'suid')).mode & 0o7777).toBe(0o755);
    expect(guest.call('chmod', '/m/suid', 0o4700)).toBe(0);
    expect(statSync(join(inside, 'suid')).mode & 0o7777).toBe(0o700);
  });

  it('is left neither through a dangling link nor by removing a link', () => {
    const guest = guestWith(true);
    expect(guest.call('open', '/m/dangling', WRONLY_CREAT, 0o644)).toBe('ENOENT');
    expect(guest.call('open', '/m/absolute/new', WRONLY_CREAT, 0o644)).toBe('ENOENT');
    expect(guest.call('unlink', '/m/relative')).toBe(0);
    expect(guest.call('rename', '/m/file', '/m/updir/stolen')).toBe('ENOENT');
    expect(guest.call('symlink', '/etc/passwd', '/m/l')).toBe('EPERM');
    expect(readFileSync(join(secret, 'secret'), 'utf8')).toBe('secret');
    expect(existsSync(join(secret, 'made'))).toBe(false);
    expect(existsSync(join(secret, 'new'))).toBe(false);
  });

  it('keeps a file that was unlinked while it is open', () => {
    const guest = guestWith(true);
    const fd = guest.call('open', '/m/temp', 0o102, 0o600) as number;
    guest.call('write', fd, 'kept', 4);
    guest.call('unlink', '/m/temp');
    const into = guest.room(8);
    expect(guest.call('pread64', fd, into, 8, 0)).toBe(4);
    expect(guest.text(into, 4)).toBe('kept');
    const stat = guest.room(144);
    expect(guest.call('fstat', fd, stat)).toBe(0);
    expect([guest.u64(stat + 16n), guest.u64(stat + 48n)]).toEqual([0n, 4n]);
  });
});
