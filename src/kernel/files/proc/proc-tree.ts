import type { ErrnoName } from '../../../abi/errno.ts';
import type { Task } from '../../task.ts';
import { kernelAttributes, nameNumber } from '../file-attributes.ts';
import { nameToBytes } from '../names.ts';
import type { OpenFile } from '../open-file.ts';
import type { Attributes, DirectoryEntry, FileKind, FileTree } from '../tree.ts';
import { mapsText } from './maps.ts';
import { statusText } from './status.ts';
import { textFile } from './text-file.ts';

/** The processes /proc shows; the kernel is one. */
export interface ProcessSource {
  /** One task a process will do; the first is the one that asks. */
  tasks(): readonly Task[];
}

const PROC = { major: 0, minor: 21 };

/** Files of a process directory, with what they hold. */
const TEXTS: Readonly<Record<string, (task: Task) => Uint8Array>> = {
  auxv: (task) => task.mm.auxv,
  comm: (task) => nameToBytes(`${task.comm}\n`),
  maps: (task) => nameToBytes(mapsText(task.mm.space.vmas(), task.mm)),
  status: (task) => nameToBytes(statusText(task)),
};
const LINKS: Readonly<Record<string, (task: Task) => string | undefined>> = {
  cwd: (task) => task.files.cwd,
  exe: (task) => task.mm.exe?.path,
  root: () => '/',
};

/** What a path below /proc stands for. */
type Entry =
  | { readonly kind: 'top' }
  | { readonly kind: 'self'; readonly pid: number }
  | { readonly kind: 'process'; readonly task: Task }
  | { readonly kind: 'text'; readonly task: Task; readonly name: string }
  | { readonly kind: 'link'; readonly task: Task; readonly target: string }
  | { readonly kind: 'descriptors'; readonly task: Task }
  | { readonly kind: 'descriptor'; readonly task: Task; readonly fd: number };

const KINDS: Readonly<Record<Entry['kind'], readonly [FileKind, mode: number]>> = {
  top: ['directory', 0o555],
  self: ['symlink', 0o777],
  process: ['directory', 0o555],
  text: ['file', 0o444],
  link: ['symlink', 0o777],
  descriptors: ['directory', 0o500],
  descriptor: ['symlink', 0o700],
};

/** The guest's /proc: its own processes and nothing else. */
export class ProcTree implements FileTree {
  readonly domain = this;
  source: ProcessSource = { tasks: () => [] };

  attributes(path: string): Attributes | ErrnoName {
    const entry = this.#find(path);
    if (entry === undefined) return 'ENOENT';
    const [kind, mode] = KINDS[entry.kind];
    return kernelAttributes(kind, mode, PROC, nameNumber(path));
  }

  readlink(path: string): { readonly target: string } | ErrnoName {
    const entry = this.#find(path);
    if (entry?.kind === 'self') return { target: `${entry.pid}` };
    if (entry?.kind === 'link') return { target: entry.target };
    if (entry?.kind !== 'descriptor') return 'EINVAL';
    const file = entry.task.files.get(entry.fd)?.file;
    return file === undefined ? 'ENOENT' : { target: file.path };
  }

  list(path: string): readonly DirectoryEntry[] | ErrnoName {
    const entry = this.#find(path);
    return (
      (entry && this.#namesIn(entry))?.map((name) => {
        const below = path === '' ? name : `${path}/${name}`;
        const [kind] = KINDS[this.#find(below)?.kind ?? 'text'];
        return { name, kind, number: nameNumber(below) };
      }) ?? 'ENOTDIR'
    );
  }

  open(): ErrnoName {
    return 'EACCES';
  }

  /** The mount's way to open what is below /proc; undefined = a link to be followed. */
  openSpecial(path: string): OpenFile | ErrnoName | undefined {
    const entry = this.#find(path);
    if (entry?.kind === 'descriptor') return entry.task.files.get(entry.fd)?.file ?? 'ENOENT';
    if (entry?.kind !== 'text') return undefined;
    const { task, name } = entry;
    const attributes = kernelAttributes('file', 0o444, PROC, nameNumber(path));
    return textFile(`/proc/${path}`, attributes, () => TEXTS[name]!(task));
  }

  #namesIn(entry: Entry): readonly string[] | undefined {
    if (entry.kind === 'top')
      return ['self', ...new Set(this.#tasks().map(({ tgid }) => `${tgid}`))];
    if (entry.kind === 'process')
      return [...Object.keys(TEXTS), ...Object.keys(LINKS), 'fd'].filter(
        (name) => name !== 'exe' || entry.task.mm.exe !== null,
      );
    return entry.kind === 'descriptors' ? entry.task.files.numbers().map(String) : undefined;
  }

  #tasks(): readonly Task[] {
    return this.source.tasks().filter((task) => !task.exited);
  }

  #find(path: string): Entry | undefined {
    if (path === '') return { kind: 'top' };
    const [top = '', name, below, ...more] = path.split('/');
    const tasks = this.#tasks();
    if (top === 'self' && name === undefined && tasks[0])
      return { kind: 'self', pid: tasks[0].tgid };
    const task = tasks.find(({ tgid }) => `${tgid}` === top);
    if (task === undefined || more.length > 0) return undefined;
    if (name === undefined) return { kind: 'process', task };
    if (name === 'fd') return descriptorEntry(task, below);
    if (below !== undefined) return undefined;
    if (Object.hasOwn(TEXTS, name)) return { kind: 'text', task, name };
    const target = Object.hasOwn(LINKS, name) ? LINKS[name]?.(task) : undefined;
    return target === undefined ? undefined : { kind: 'link', task, target };
  }
}

const descriptorEntry = (task: Task, name: string | undefined): Entry | undefined => {
  if (name === undefined) return { kind: 'descriptors', task };
  const fd = /^\d{1,9}$/.test(name) ? Number(name) : -1;
  return task.files.get(fd) === undefined || `${fd}` !== name
    ? undefined
    : { kind: 'descriptor', task, fd };
};
