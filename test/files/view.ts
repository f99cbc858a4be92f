/** A file view over memory trees, for tests. */
import { FileView } from '../../src/kernel/files/file-view.ts';
import { type MemoryEntry, MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { StandardStreams } from '../../src/kernel/files/standard-streams.ts';

export const viewOf = (
  entries: Readonly<Record<string, MemoryEntry>> = {},
  writable = false,
): FileView => {
  const streams = new StandardStreams({ stdout: () => null, stderr: () => null });
  const view = new FileView({ streams, random: (into) => into.fill(0x5a) });
  view.mount({ at: '/', tree: new MemoryTree(entries), writable });
  return view;
};

/** Canonical path a path leads to, or the errno. */
export const where = (view: FileView, path: string, from = '/'): string => {
  const place = view.find(from, path);
  return typeof place === 'string' ? place : place.path;
};
