import type { ErrnoName } from '../../abi/errno.ts';
import {
  type Attributes,
  type DeviceNumber,
  type DirectoryEntry,
  type FileTree,
  failed,
  type TreeChanges,
  type TreeFile,
} from './tree.ts';

/** What every kind of node has. */
interface NodeBase {
  readonly number: bigint;
  mode: number;
  accessed: bigint;
  modified: bigint;
}
interface FileNode extends NodeBase {
  readonly kind: 'file';
  /** At least `size` long: grows by doubling. */
  bytes: Uint8Array;
  size: number;
  /** Names and open handles; the bytes count against the capacity while there is either. */
  uses: number;
}
interface DirectoryNode extends NodeBase {
  readonly kind: 'directory';
  entries: Map<string, Node>;
}
interface LinkNode extends NodeBase {
  readonly kind: 'symlink';
  readonly target: string;
}
type Node = FileNode | DirectoryNode | LinkNode;

/** One name of a new tree: bytes or text of a file, or where a link leads. */
export type MemoryEntry =
  | Uint8Array
  | string
  | { readonly link: string }
  | { readonly directory: true }
  | { readonly bytes: Uint8Array | string; readonly mode: number };

export interface MemoryTreeOptions {
  /** Device number of all files; default 0:2, the kind of number tmpfs has. */
  readonly device?: DeviceNumber;
  /** Bytes all files may hold together (ENOSPC beyond); default 64 MiB. */
  readonly capacity?: number;
  /** Refuse changes; default false. */
  readonly readOnly?: boolean;
}

interface Captured {
  readonly nodes: readonly (readonly [Node, Map<string, Node> | Uint8Array | null, NodeBase])[];
  readonly nextNumber: bigint;
}

/** Everything belongs to the guest's user. */
const OWNER = 1000;

const lastSlash = (path: string): [directory: string, name: string] => {
  const at = path.lastIndexOf('/');
  return at < 0 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
};

/** A tree that lives in memory: for tests, and for hosts without files. Times are 0 until set. */
export class MemoryTree implements FileTree {
  readonly domain: object = this;
  readonly changes?: TreeChanges;
  readonly #device: DeviceNumber;
  readonly #capacity: number;
  readonly #root: DirectoryNode;
  #used = 0;
  #nextNumber = 1n;

  /** @param entries by path below the root; directories on the way are made. */
  constructor(
    entries: Readonly<Record<string, MemoryEntry>> = {},
    options: MemoryTreeOptions = {},
  ) {
    this.#device = options.device ?? { major: 0, minor: 2 };
    this.#capacity = options.capacity ?? 64 << 20;
    this.#root = this.#directory(0o755);
    for (const [path, entry] of Object.entries(entries)) this.#plant(path, entry);
    if (options.readOnly !== true) this.changes = this.#writer();
  }

  attributes(path: string): Attributes | ErrnoName {
    const node = this.#find(path);
    if (failed(node)) return node;
    return {
      kind: node.kind,
      mode: node.mode,
      size: BigInt(node.kind === 'file' ? node.size : 0),
      device: this.#device,
      number: node.number,
      links: node.kind === 'directory' ? 2 : 1,
      uid: OWNER,
      gid: OWNER,
      represents: { major: 0, minor: 0 },
      accessed: node.accessed,
      modified: node.modified,
      changed: node.modified,
    };
  }

  readlink(path: string): { readonly target: string } | ErrnoName {
    const node = this.#find(path);
    if (failed(node)) return node;
    return node.kind === 'symlink' ? { target: node.target } : 'EINVAL';
  }

  list(path: string): readonly DirectoryEntry[] | ErrnoName {
    const node = this.#find(path);
    if (failed(node)) return node;
    if (node.kind !== 'directory') return 'ENOTDIR';
    return [...node.entries].map(([name, { kind, number }]) => ({ name, kind, number }));
  }

  open(path: string): TreeFile | ErrnoName {
    const node = this.#find(path);
    if (failed(node)) return node;
    if (node.kind !== 'file') return node.kind === 'directory' ? 'EISDIR' : 'ELOOP';
    node.uses++;
    return {
      size: () => BigInt(node.size),
      read: (offset, into) => {
        if (offset >= BigInt(node.size)) return 0;
        const end = Math.min(node.size, Number(offset) + into.length);
        const part = node.bytes.subarray(Number(offset), end);
        into.set(part);
        return part.length;
      },
      write: (offset, bytes) => {
        const end = offset + BigInt(bytes.length);
        const error = end > BigInt(node.size) ? this.#resize(node, end) : null;
        if (error !== null) return error;
        node.bytes.set(bytes, Number(offset));
        return bytes.length;
      },
      resize: (size) => this.#resize(node, size),
      close: () => this.#drop(node),
    };
  }

  capture(): Captured {
    const nodes: [Node, Map<string, Node> | Uint8Array | null, NodeBase][] = [];
    const visit = (node: Node): void => {
      const { number, mode, accessed, modified } = node;
      const base: NodeBase = { number, mode, accessed, modified };
      if (node.kind === 'file') nodes.push([node, node.bytes.slice(0, node.size), base]);
      else if (node.kind === 'symlink') nodes.push([node, null, base]);
      else {
        nodes.push([node, new Map(node.entries), base]);
        for (const child of node.entries.values()) visit(child);
      }
    };
    visit(this.#root);
    return { nodes, nextNumber: this.#nextNumber };
  }

  restore(state: unknown): void {
    const { nodes, nextNumber } = state as Captured;
    this.#used = 0;
    this.#nextNumber = nextNumber;
    for (const [node, content, base] of nodes) {
      Object.assign(node, base);
      if (node.kind === 'directory') node.entries = new Map(content as Map<string, Node>);
      if (node.kind !== 'file') continue;
      node.bytes = (content as Uint8Array).slice();
      node.size = node.bytes.length;
      this.#used += node.size;
    }
  }

  #base(mode: number): NodeBase {
    return { number: this.#nextNumber++, mode, accessed: 0n, modified: 0n };
  }

  #directory(mode: number): DirectoryNode {
    return { kind: 'directory', ...this.#base(mode), entries: new Map() };
  }

  #find(path: string): Node | ErrnoName {
    let node: Node = this.#root;
    for (const name of path === '' ? [] : path.split('/')) {
      if (node.kind !== 'directory') return node.kind === 'symlink' ? 'ELOOP' : 'ENOTDIR';
      const next: Node | undefined = node.entries.get(name);
      if (next === undefined) return 'ENOENT';
      node = next;
    }
    return node;
  }

  #parent(path: string): [DirectoryNode, string] | ErrnoName {
    const [directory, name] = lastSlash(path);
    const node = this.#find(directory);
    if (failed(node)) return node;
    return node.kind === 'directory' ? [node, name] : 'ENOTDIR';
  }

  #plant(path: string, entry: MemoryEntry): void {
    const names = path.split('/').filter((name) => name !== '');
    const last = names.pop() ?? '';
    let directory = this.#root;
    for (const name of names) {
      const next = directory.entries.get(name) ?? this.#directory(0o755);
      directory.entries.set(name, next);
      if (next.kind === 'directory') directory = next;
    }
    directory.entries.set(last, this.#nodeOf(entry));
  }

  #nodeOf(entry: MemoryEntry): Node {
    if (typeof entry === 'string' || entry instanceof Uint8Array)
      return this.#nodeOf({ bytes: entry, mode: 0o644 });
    if ('link' in entry) return { kind: 'symlink', ...this.#base(0o777), target: entry.link };
    if ('directory' in entry) return this.#directory(0o755);
    const bytes =
      typeof entry.bytes === 'string' ? new TextEncoder().encode(entry.bytes) : entry.bytes.slice();
    this.#used += bytes.length;
    const size = bytes.length;
    return { kind: 'file', ...this.#base(entry.mode), bytes, size, uses: 1 };
  }

  #resize(node: FileNode, size: bigint): ErrnoName | null {
    if (size > BigInt(this.#capacity - this.#used + node.size)) return 'ENOSPC';
    const wanted = Number(size);
    if (wanted > node.bytes.length) {
      const bytes = new Uint8Array(Math.max(wanted, Math.min(2 * node.size, this.#capacity)));
      bytes.set(node.bytes.subarray(0, node.size));
      node.bytes = bytes;
    }
    node.bytes.fill(0, wanted, Math.max(wanted, node.size));
    this.#used += wanted - node.size;
    node.size = wanted;
    return null;
  }

  #drop(node: FileNode): void {
    if (--node.uses === 0) this.#used -= node.size;
  }

  #insert(path: string, make: () => Node): ErrnoName | null {
    const parent = this.#parent(path);
    if (failed(parent)) return parent;
    const [directory, name] = parent;
    if (directory.entries.has(name)) return 'EEXIST';
    directory.entries.set(name, make());
    return null;
  }

  #remove(path: string, refuse: (node: Node) => ErrnoName | null): ErrnoName | null {
    const parent = this.#parent(path);
    if (failed(parent)) return parent;
    const [directory, name] = parent;
    const node = directory.entries.get(name);
    const error = node === undefined ? 'ENOENT' : refuse(node);
    if (error !== null) return error;
    directory.entries.delete(name);
    if (node?.kind === 'file') this.#drop(node);
    return null;
  }

  #rename(from: string, to: string): ErrnoName | null {
    const source = this.#find(from);
    if (failed(source)) return source;
    const target = this.#find(to);
    if (target === source) return null;
    if (to.startsWith(`${from}/`)) return 'EINVAL';
    if (!failed(target)) {
      if (target.kind === 'directory' && source.kind !== 'directory') return 'EISDIR';
      if (target.kind !== 'directory' && source.kind === 'directory') return 'ENOTDIR';
      if (target.kind === 'directory' && target.entries.size > 0) return 'ENOTEMPTY';
      this.#remove(to, () => null);
    }
    const error = this.#insert(to, () => source);
    if (error === null) this.#unlink(from);
    return error;
  }

  #unlink(path: string): void {
    const parent = this.#parent(path);
    if (!failed(parent)) parent[0].entries.delete(parent[1]);
  }

  #change(path: string, fields: Partial<NodeBase>): ErrnoName | null {
    const node = this.#find(path);
    if (failed(node)) return node;
    Object.assign(node, fields);
    return null;
  }

  #writer(): TreeChanges {
    return {
      createFile: (path, mode) =>
        this.#insert(path, () => this.#nodeOf({ bytes: new Uint8Array(0), mode })),
      makeDirectory: (path, mode) => this.#insert(path, () => this.#directory(mode)),
      removeFile: (path) =>
        this.#remove(path, (node) => (node.kind === 'directory' ? 'EISDIR' : null)),
      removeDirectory: (path) =>
        this.#remove(path, (node) =>
          node.kind !== 'directory' ? 'ENOTDIR' : node.entries.size > 0 ? 'ENOTEMPTY' : null,
        ),
      rename: (from, to) => this.#rename(from, to),
      setMode: (path, mode) => this.#change(path, { mode }),
      setTimes: (path, times) => this.#change(path, times),
    };
  }
}
