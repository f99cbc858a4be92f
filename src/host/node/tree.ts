import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import {
  type Attributes,
  type DirectoryEntry,
  type ErrnoName,
  type FileKind,
  type FileTimes,
  type FileTree,
  nameFromBytes,
  nameToBytes,
  TraplineError,
  type TreeChanges,
  type TreeFile,
} from '../../index.ts';
import { attempt, inWords } from './host-errors.ts';
import { HostFile } from './host-file.ts';

/** All host trees number their files alike. */
const HOST = {};

/** Never through a link, never waiting for the other end of a FIFO. Hosts without a flag lack it. */
const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Permission bits the guest may set: it makes no set-user-id programs on the host. */
const MODE_BITS = 0o777;

/** Windows takes these for separators: a name with one could lead out of the tree. */
const FOREIGN = process.platform === 'win32' ? /[\\:\0]/ : /\0/;

const SLASH = Buffer.of(0x2f);

/** One name further; `/` itself ends in the slash already. */
const below = (directory: Buffer, name: Uint8Array): Buffer =>
  Buffer.concat(directory.equals(SLASH) ? [SLASH, name] : [directory, SLASH, name]);

/**
 * A directory of the host as a tree, read when asked. The kernel layer walks paths and resolves
 * links itself; here every directory on the way is looked at again and a link refused, files are
 * opened without following, and what was opened is compared with what was looked at. Only regular
 * files are ever opened: no FIFO, no device.
 */
export class HostTree implements FileTree {
  readonly domain = HOST;
  readonly changes?: TreeChanges;
  readonly #root: Buffer;

  /** @param directory the tree's root; links in this path itself are followed, once, now */
  constructor(directory: string, options: { readonly writable?: boolean } = {}) {
    const root = attempt(() => realpathSync(directory, 'buffer'));
    if (typeof root === 'string')
      throw new TraplineError('file-missing', `cannot read ${directory}: ${inWords(root)}`, {
        errno: root,
      });
    this.#root = root;
    if (options.writable === true) this.changes = changesOf((path) => this.#hostPath(path));
  }

  attributes(path: string): Attributes | ErrnoName {
    const stats = this.#look(path);
    return typeof stats === 'string' ? stats : attributesOf(stats);
  }

  readlink(path: string): { readonly target: string } | ErrnoName {
    const host = this.#hostPath(path);
    return typeof host === 'string'
      ? host
      : attempt(() => ({ target: nameFromBytes(readlinkSync(host, 'buffer')) }));
  }

  list(path: string): readonly DirectoryEntry[] | ErrnoName {
    const stats = this.#look(path);
    if (typeof stats === 'string') return stats;
    if (!stats.isDirectory()) return 'ENOTDIR';
    const host = this.#hostPath(path);
    if (typeof host === 'string') return host;
    const names = attempt(() => readdirSync(host, 'buffer'));
    if (typeof names === 'string') return names;
    return names.flatMap((bytes) => {
      const found = attempt(() => lstatSync(below(host, bytes), { bigint: true }));
      if (typeof found === 'string') return []; // gone in the meantime
      return [{ name: nameFromBytes(bytes), kind: kindOf(found), number: found.ino }];
    });
  }

  open(path: string, access: 'read' | 'write'): TreeFile | ErrnoName {
    if (access === 'write' && this.changes === undefined) return 'EROFS';
    const looked = this.#look(path);
    if (typeof looked === 'string') return looked;
    if (!looked.isFile()) return NO_FILE[kindOf(looked)];
    const host = this.#hostPath(path);
    if (typeof host === 'string') return host;
    const mode = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
    const fd = attempt(() => openSync(host, mode | SAFE));
    if (typeof fd === 'string') return fd;
    if (isSame(fd, looked) && isAt(fd, host)) return new HostFile(fd);
    closeSync(fd);
    return 'ELOOP';
  }

  #look(path: string): BigIntStats | ErrnoName {
    const host = this.#hostPath(path);
    return typeof host === 'string' ? host : attempt(() => lstatSync(host, { bigint: true }));
  }

  /** The host's path of a name, once every directory on the way is known to be one. */
  #hostPath(path: string): Buffer | ErrnoName {
    if (FOREIGN.test(path)) return 'ENOENT';
    const names = path === '' ? [] : path.split('/');
    let host = this.#root;
    for (const [i, name] of names.entries()) {
      if (name === '' || name === '.' || name === '..') return 'EINVAL';
      if (i > 0) {
        const stats = attempt(() => lstatSync(host));
        if (typeof stats === 'string') return stats;
        if (!stats.isDirectory()) return stats.isSymbolicLink() ? 'ELOOP' : 'ENOTDIR';
      }
      host = below(host, nameToBytes(name));
    }
    return host;
  }
}

const changesOf = (hostPath: (path: string) => Buffer | ErrnoName): TreeChanges => {
  const change = (path: string, act: (host: Buffer) => void): ErrnoName | null => {
    const host = hostPath(path);
    if (typeof host === 'string') return host;
    return attempt(() => act(host)) ?? null;
  };
  return {
    createFile: (path, mode) =>
      change(path, (host) => {
        const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | SAFE;
        closeSync(openSync(host, flags, mode & MODE_BITS));
      }),
    makeDirectory: (path, mode) => change(path, (host) => mkdirSync(host, mode & MODE_BITS)),
    removeFile: (path) => change(path, unlinkSync),
    removeDirectory: (path) => change(path, (host) => rmdirSync(host)),
    rename: (from, to) => {
      const goal = hostPath(to);
      if (typeof goal === 'string') return goal;
      return change(from, (host) => renameSync(host, goal));
    },
    setMode: (path, mode) => change(path, (host) => setMode(host, mode & MODE_BITS)),
    setTimes: (path, times) => change(path, (host) => setTimes(host, times)),
  };
};

/** Runs a change on what a name stands for, a link never being followed. */
const onFile = (host: Buffer, act: (fd: number) => void): void => {
  const fd = openSync(host, constants.O_RDONLY | SAFE);
  try {
    act(fd);
  } finally {
    closeSync(fd);
  }
};

/** chmod; a file that may not be read cannot be opened for it, but then it is none of a link's. */
const setMode = (host: Buffer, mode: number): void => {
  if (lstatSync(host).isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
  if (attempt(() => onFile(host, (fd) => fchmodSync(fd, mode))) === 'EACCES') chmodSync(host, mode);
};

/** Node sets times in seconds as doubles: exact to a microsecond or so. */
const setTimes = (host: Buffer, { accessed, modified }: FileTimes): void =>
  onFile(host, (fd) => {
    const now = fstatSync(fd, { bigint: true });
    const seconds = (ns: bigint): number => Number(ns / 1000n) / 1e6;
    futimesSync(fd, seconds(accessed ?? now.atimeNs), seconds(modified ?? now.mtimeNs));
  });

/** What opening something that is no regular file comes to. */
const NO_FILE: Readonly<Record<FileKind, ErrnoName>> = {
  file: 'EACCES',
  directory: 'EISDIR',
  symlink: 'ELOOP',
  fifo: 'ENXIO',
  socket: 'ENXIO',
  'char-device': 'EACCES',
  'block-device': 'EACCES',
};

const isSame = (fd: number, looked: BigIntStats): boolean => {
  const opened = fstatSync(fd, { bigint: true });
  return opened.isFile() && opened.dev === looked.dev && opened.ino === looked.ino;
};

/** Linux tells where a descriptor lies: a directory that was swapped for a link shows. */
const isAt = (fd: number, host: Buffer): boolean =>
  process.platform !== 'linux' || readlinkSync(`/proc/self/fd/${fd}`, 'buffer').equals(host);

const kindOf = (stats: BigIntStats): FileKind => {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  return stats.isBlockDevice() ? 'block-device' : 'char-device';
};

/** gnu_dev_major and gnu_dev_minor. */
const deviceOf = (dev: bigint) => ({
  major: Number(((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n)),
  minor: Number((dev & 0xffn) | ((dev >> 12n) & 0xffffff00n)),
});

const attributesOf = (stats: BigIntStats): Attributes => ({
  kind: kindOf(stats),
  mode: Number(stats.mode & 0o7777n),
  size: stats.size,
  device: deviceOf(stats.dev),
  number: stats.ino,
  links: Number(stats.nlink),
  uid: Number(stats.uid),
  gid: Number(stats.gid),
  represents: deviceOf(stats.rdev),
  // Reading changes the host's access time; a run must not see what an earlier run has read.
  accessed: stats.mtimeNs,
  modified: stats.mtimeNs,
  changed: stats.ctimeNs,
});
