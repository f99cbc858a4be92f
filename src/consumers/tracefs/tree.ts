import type { ErrnoName } from '../../abi/errno.ts';
import { bytesText, textBytes } from '../../base/byte-text.ts';
import { kernelAttributes, nameNumber } from '../../kernel/files/file-attributes.ts';
import { ALWAYS_READY, type OpenFile, WAIT_FOR_PEER } from '../../kernel/files/open-file.ts';
import type { Attributes, DirectoryEntry, FileTree } from '../../kernel/files/tree.ts';
import type { TraceControl } from './control.ts';
import type { DirectoryNode, TextNode, TraceNode } from './nodes.ts';
import type { TraceArray } from './trace-array.ts';
import { lineOf, lostLine } from './trace-text.ts';

const TRACEFS = { major: 0, minor: 12 };

/** What the guest sees below /sys/kernel/tracing. */
export class TracefsTree implements FileTree {
  readonly domain = this;
  readonly #root: DirectoryNode;
  readonly #control: TraceControl;
  readonly #at: string;

  /** @param at where it is mounted */
  constructor(root: DirectoryNode, control: TraceControl, at: string) {
    this.#root = root;
    this.#control = control;
    this.#at = at;
  }

  /** The node of a path without leading slash; undefined = there is none. */
  node(path: string): TraceNode | undefined {
    let node: TraceNode | undefined = this.#root;
    for (const name of path.split('/').filter((part) => part !== ''))
      node = node?.kind === 'directory' ? node.child(name) : undefined;
    return node;
  }

  attributes(path: string): Attributes | ErrnoName {
    const node = this.node(path);
    if (node === undefined) return 'ENOENT';
    const kind = node.kind === 'directory' ? 'directory' : 'file';
    return kernelAttributes(kind, node.mode, TRACEFS, nameNumber(path));
  }

  readlink(): ErrnoName {
    return 'EINVAL';
  }

  list(path: string): readonly DirectoryEntry[] | ErrnoName {
    const node = this.node(path);
    if (node?.kind !== 'directory') return node === undefined ? 'ENOENT' : 'ENOTDIR';
    return node.names().map((name) => {
      const below = path === '' ? name : `${path}/${name}`;
      const kind = this.node(below)?.kind === 'directory' ? 'directory' : 'file';
      return { name, kind, number: nameNumber(below) };
    });
  }

  open(): ErrnoName {
    return 'EACCES';
  }

  capture(): unknown {
    return this.#control.capture();
  }

  restore(state: unknown): void {
    (state as () => void)();
  }

  /** The mount's way to open a file; undefined = a directory. */
  openSpecial(path: string): OpenFile | ErrnoName | undefined {
    const node = this.node(path);
    if (node === undefined || node.kind === 'directory') return undefined;
    const name = `${this.#at}/${path}`;
    const attributes = kernelAttributes('file', node.mode, TRACEFS, nameNumber(path));
    return node.kind === 'text'
      ? openText(name, attributes, node)
      : openPipe(name, attributes, this.#control.array);
  }
}

/** Its text is made anew whenever it is read from its start (seq_file). */
const openText = (path: string, attributes: Attributes, node: TextNode): OpenFile => {
  let bytes: Uint8Array | null = null;
  return {
    path,
    seekable: true,
    attributes: () => attributes,
    read: (position, into) => {
      if (node.read === undefined) return 'EINVAL';
      if (bytes === null || position === 0n) bytes = textBytes(node.read());
      if (position >= BigInt(bytes.length)) return 0;
      const part = bytes.subarray(Number(position), Number(position) + into.length);
      into.set(part);
      return part.length;
    },
    write: (_position, written) =>
      node.write?.(bytesText(written)) ?? (node.write ? written.length : 'EINVAL'),
    truncate: () => node.truncate?.() ?? null,
    readiness: () => ALWAYS_READY,
    size: () => 0n,
  };
};

/** `trace_pipe`: waits for records, and ends once it has given some and tracing is off. */
const openPipe = (path: string, attributes: Attributes, array: TraceArray): OpenFile => {
  let rest = new Uint8Array();
  let given = false;
  const fill = (wanted: number): void => {
    while (rest.length < wanted) {
      const lost = array.ring.takeLost();
      const stored = array.ring.shift();
      if (stored === undefined) return;
      const line = textBytes(lostLine(lost) + lineOf(array.decode(stored)));
      const longer = new Uint8Array(rest.length + line.length);
      longer.set(rest);
      longer.set(line, rest.length);
      rest = longer;
    }
  };
  return {
    path,
    seekable: false,
    attributes: () => attributes,
    read: (_position, into) => {
      fill(into.length);
      if (rest.length === 0) return given && !array.on ? 0 : WAIT_FOR_PEER;
      given = true;
      const part = rest.subarray(0, into.length);
      into.set(part);
      rest = rest.slice(part.length);
      return part.length;
    },
    write: () => 'EINVAL',
    readiness: () => ({ readable: rest.length > 0 || array.ring.entries > 0, writable: false }),
    size: () => 0n,
  };
};
