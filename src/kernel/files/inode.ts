import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode } from '../../memory/backing.ts';
import type { Mount, Place } from './mounts.ts';
import {
  type Attributes,
  type DeviceNumber,
  type FileTree,
  failed,
  type TreeFile,
} from './tree.ts';

/** A name in the guest's view and in its tree. */
type Name = Pick<Place, 'path' | 'treePath'>;

/**
 * One regular file. The object is the file's identity: probes and private mappings compare it.
 * Handles of the tree are opened when first needed and closed when nobody uses the file, except
 * that a mapped file stays open for good.
 */
export class FileInode implements Inode {
  readonly device: DeviceNumber;
  readonly number: bigint;
  #mount: Mount;
  #path: string;
  #treePath: string;
  #attributes: Attributes;
  #reader: TreeFile | null = null;
  #writer: TreeFile | null = null;
  #users = 0;
  #pinned = false;

  constructor(mount: Mount, { path, treePath, attributes }: Place) {
    this.device = attributes.device;
    this.number = attributes.number;
    this.#mount = mount;
    this.#path = path;
    this.#treePath = treePath;
    this.#attributes = attributes;
  }

  get path(): string {
    return this.#path;
  }

  get size(): bigint {
    return this.#reader?.size() ?? this.#writer?.size() ?? this.attributes().size;
  }

  attributes(): Attributes {
    const now = this.#mount.tree.attributes(this.#treePath);
    const same = !failed(now) && now.number === this.number;
    if (same) this.#attributes = now;
    else this.#attributes = { ...this.#attributes, links: 0 };
    const handle = this.#reader ?? this.#writer;
    return handle === null ? this.#attributes : { ...this.#attributes, size: handle.size() };
  }

  /** Opens the handle an open file will need, so that open(2) can answer with its errno. */
  prepare(access: 'read' | 'write'): ErrnoName | null {
    const handle = access === 'read' ? this.#readHandle() : this.#writeHandle();
    return failed(handle) ? handle : null;
  }

  /** Bytes from `offset` on; a file that can no longer be read has none. */
  read(offset: bigint, into: Uint8Array): number {
    const got = this.readOrFail(offset, into);
    return failed(got) ? 0 : got;
  }

  readOrFail(offset: bigint, into: Uint8Array): number | ErrnoName {
    const handle = this.#readHandle();
    return failed(handle) ? handle : handle.read(offset, into);
  }

  write(offset: bigint, bytes: Uint8Array): number | ErrnoName {
    const handle = this.#writeHandle();
    return failed(handle) ? handle : handle.write(offset, bytes);
  }

  resize(size: bigint): ErrnoName | null {
    const handle = this.#writeHandle();
    return failed(handle) ? handle : handle.resize(size);
  }

  use(): void {
    this.#users++;
  }

  /** Counterpart of {@link use}. */
  release(): void {
    this.#users = Math.max(0, this.#users - 1);
    if (this.#users === 0 && !this.#pinned) this.close();
  }

  /** A mapping exists: its pages are read later, so the file must stay open. */
  pin(): void {
    this.#pinned = true;
  }

  /** The same file was reached through another mount: one that may write is the better one. */
  reachedBy(mount: Mount, { path, treePath }: Place): void {
    if (!mount.writable || this.#mount.writable) return;
    this.#mount = mount;
    this.#path = path;
    this.#treePath = treePath;
  }

  /** A name on the way to the file, or its own, was changed. */
  renamed(from: Name, to: Name): void {
    if (this.#path !== from.path && !this.#path.startsWith(`${from.path}/`)) return;
    this.#path = to.path + this.#path.slice(from.path.length);
    this.#treePath = to.treePath + this.#treePath.slice(from.treePath.length);
  }

  close(): void {
    this.#reader?.close();
    this.#writer?.close();
    this.#reader = null;
    this.#writer = null;
  }

  #readHandle(): TreeFile | ErrnoName {
    if (this.#reader !== null) return this.#reader;
    const handle = this.#mount.tree.open(this.#treePath, 'read');
    if (!failed(handle)) this.#reader = handle;
    return handle;
  }

  #writeHandle(): TreeFile | ErrnoName {
    if (this.#writer !== null) return this.#writer;
    if (!this.#mount.writable) return 'EROFS';
    const handle = this.#mount.tree.open(this.#treePath, 'write');
    if (!failed(handle)) this.#writer = handle;
    return handle;
  }
}

/** Every regular file that was ever looked at, one object each. */
export class InodeTable {
  readonly #domains = new Map<object, Map<string, FileInode>>();

  /** Preconditions: the place is a regular file of a mount. */
  at(place: Place): FileInode {
    const { mount, attributes } = place;
    if (mount === null) throw new TypeError('a stem directory has no inode');
    const files = this.#filesOf(mount.tree);
    const key = keyOf(attributes);
    const inode = files.get(key) ?? new FileInode(mount, place);
    inode.reachedBy(mount, place);
    files.set(key, inode);
    return inode;
  }

  /** The file is gone and its number may be given to another one. */
  forget({ mount, attributes }: Place): void {
    if (mount !== null) this.#filesOf(mount.tree).delete(keyOf(attributes));
  }

  *[Symbol.iterator](): Generator<FileInode> {
    for (const files of this.#domains.values()) yield* files.values();
  }

  #filesOf({ domain }: FileTree): Map<string, FileInode> {
    const files = this.#domains.get(domain) ?? new Map<string, FileInode>();
    this.#domains.set(domain, files);
    return files;
  }
}

const keyOf = ({ device, number }: Attributes): string =>
  `${device.major}:${device.minor}:${number}`;
