import type { ErrnoName } from '../../abi/errno.ts';
import { TraplineError } from '../../base/errors.ts';
import { DeviceTree, type RandomSource } from './devices.ts';
import { type FileInode, InodeTable } from './inode.ts';
import { MountTable, type Place } from './mounts.ts';
import { nameForPeople } from './names.ts';
import type { OpenFile } from './open-file.ts';
import { makePipe } from './pipe.ts';
import { ProcTree } from './proc/proc-tree.ts';
import type { StandardStreams } from './standard-streams.ts';
import { type Attributes, type FileTree, failed, joinPath } from './tree.ts';
import { type Walk, type WalkOptions, walk } from './walk.ts';

/** What a view is made of besides its mounts. */
export interface FileViewOptions {
  readonly streams: StandardStreams;
  /** Behind /dev/urandom. */
  readonly random: RandomSource;
}

/** A place in the guest's tree to show a host's tree at. */
export interface MountOptions {
  /** Absolute path in the guest's view. */
  readonly at: string;
  readonly tree: FileTree;
  /** Path in the tree of the directory or file to show; default all of it. */
  readonly root?: string;
  /** Default false. The tree must have `changes`. */
  readonly writable?: boolean;
}

/** Rights open(2) and access(2) may ask for. */
export type Right = 'read' | 'write' | 'execute';
const RIGHT_BITS: Readonly<Record<Right, number>> = { read: 0o444, write: 0o222, execute: 0o111 };

/**
 * All that the guest can see of files: its mounts, /dev, /proc and the standard streams. Paths are
 * guest paths; the host is reached only through the trees.
 */
export class FileView {
  readonly streams: StandardStreams;
  readonly proc = new ProcTree();
  readonly mounts = new MountTable();
  readonly inodes = new InodeTable();
  readonly #devices: DeviceTree;
  #nextPipe = 100n;

  constructor({ streams, random }: FileViewOptions) {
    this.streams = streams;
    const devices = new DeviceTree(random, streams.terminal);
    this.#devices = devices;
    const special = { root: '', writable: false };
    this.mounts.add({
      ...special,
      path: '/dev',
      tree: devices,
      refuses: { make: 'EACCES', remove: 'EACCES' },
      special: (path) => devices.openSpecial(path),
    });
    this.mounts.add({
      ...special,
      path: '/proc',
      tree: this.proc,
      refuses: { make: 'ENOENT', remove: 'EPERM' },
      special: (path) => this.proc.openSpecial(path),
    });
  }

  /**
   * Shows a tree in the guest's view. Links in the path are those of the guest's view, so mount `/`
   * first. Devices and /proc stay the kernel's own.
   */
  mount(options: MountOptions): void {
    const { at, tree, root = '', writable = false } = options;
    const path = this.#mountPoint(at);
    const readOnly = writable && tree.changes === undefined ? 'the tree cannot be changed' : null;
    const problem = failed(path)
      ? path
      : (this.#mountProblem(path.at, tree.attributes(root)) ?? readOnly);
    if (problem !== null || failed(path))
      throw new TraplineError('bad-option', `cannot mount at ${nameForPeople(at)}: ${problem}`);
    this.mounts.add({ path: path.at, tree, root, writable });
  }

  walk(from: string, path: string, options?: WalkOptions): Walk | ErrnoName {
    return walk(this.mounts, from, path, options);
  }

  /** The place a path leads to. */
  find(from: string, path: string, options?: WalkOptions): Place | ErrnoName {
    const walked = this.walk(from, path, options);
    return failed(walked) ? walked : (walked.place ?? 'ENOENT');
  }

  /** The regular file of an absolute path: the program, its interpreter, what a probe names. */
  inode(path: string): FileInode | ErrnoName {
    const place = this.find('/', path);
    if (failed(place)) return place;
    if (place.attributes.kind === 'directory') return 'EISDIR';
    if (place.attributes.kind !== 'file' || place.mount?.special !== undefined) return 'EACCES';
    const inode = this.inodes.at(place);
    const error = inode.prepare('read');
    if (error !== null) return error;
    inode.pin();
    return inode;
  }

  /**
   * Whether a right may be had. The guest is not told apart from the file's owner: a right that
   * anybody has is enough, and what the host refuses stays refused.
   */
  permits({ mount, attributes }: Place, right: Right): ErrnoName | null {
    const isDevice = attributes.kind === 'char-device' || mount?.special !== undefined;
    if (right === 'write' && !isDevice && mount?.writable !== true) return 'EROFS';
    return attributes.mode & RIGHT_BITS[right] ? null : 'EACCES';
  }

  /** Both ends of a new pipe. */
  pipe(): { readonly reader: OpenFile; readonly writer: OpenFile } {
    return makePipe(this.#nextPipe++);
  }

  /** Closes what is open on the host. */
  dispose(): void {
    for (const inode of this.inodes) inode.close();
  }

  capture(): unknown {
    return {
      nextPipe: this.#nextPipe,
      streams: this.streams.capture(),
      trees: this.mounts.mounts().map(({ tree }) => [tree, tree.capture?.()] as const),
    };
  }

  restore(state: unknown): void {
    const saved = state as { nextPipe: bigint; streams: unknown; trees: [FileTree, unknown][] };
    this.#nextPipe = saved.nextPipe;
    this.streams.restore(saved.streams);
    for (const [tree, content] of saved.trees) tree.restore?.(content);
  }

  #mountProblem(at: string, attributes: Attributes | ErrnoName): string | null {
    if (this.#isOwn(at)) return 'devices and /proc are the kernel’s own';
    if (failed(attributes)) return attributes;
    const { kind } = attributes;
    if (kind === 'directory' || (kind === 'file' && at !== '/')) return null;
    return kind === 'file' ? 'not a directory' : `neither a directory nor a file, but a ${kind}`;
  }

  /** Whether a mount would hide devices or /proc; `/dev/shm` and the like are free. */
  #isOwn(at: string): boolean {
    const [, top, name] = at.split('/');
    if (top === 'proc') return true;
    return top === 'dev' && (name === undefined || !failed(this.#devices.attributes(name)));
  }

  /** Where a mount goes: the path with the guest's links resolved, as far as it exists. */
  #mountPoint(at: string): { readonly at: string } | ErrnoName {
    if (!at.startsWith('/') || at.includes('\0')) return 'EINVAL';
    let path = '/';
    for (const name of at.split('/').filter((part) => part !== '' && part !== '.')) {
      const walked = this.walk(path, name);
      if (walked === 'ENOTDIR') return walked;
      if (failed(walked)) path = joinPath(path, name);
      else path = walked.place?.path ?? joinPath(walked.parent.path, walked.name);
    }
    return { at: path };
  }
}
