import type { ErrnoName } from '../../abi/errno.ts';
import { O } from '../../abi/fcntl.ts';
import type { FileView } from './file-view.ts';
import type { OpenFile } from './open-file.ts';

/** Descriptors a process may have: RLIMIT_NOFILE's soft value of a login shell's child. */
export const DEFAULT_FILE_LIMIT = 1024;

/** An open file description (struct file): what dup and fork share. */
export class FileDescription {
  readonly file: OpenFile;
  /** O_* of open(2): access mode and status flags. */
  flags: number;
  position = 0n;
  references = 0;

  constructor(file: OpenFile, flags: number) {
    this.file = file;
    this.flags = flags;
  }

  get isPath(): boolean {
    return (this.flags & O.PATH) !== 0;
  }

  get readable(): boolean {
    return !this.isPath && (this.flags & O.ACCMODE) !== O.WRONLY;
  }

  get writable(): boolean {
    const mode = this.flags & O.ACCMODE;
    return !this.isPath && (mode === O.WRONLY || mode === O.RDWR);
  }
}

interface Slot {
  readonly description: FileDescription;
  closeOnExec: boolean;
}

interface Captured {
  readonly slots: readonly (readonly [
    fd: number,
    description: FileDescription,
    cloexec: boolean,
  ])[];
  readonly descriptions: readonly (readonly [
    FileDescription,
    { flags: number; position: bigint; references: number },
    file: unknown,
  ])[];
  readonly cwd: string;
  readonly umask: number;
  readonly limit: number;
  /** Shared by all tables of a machine; every one of them brings it back alike. */
  readonly view: unknown;
}

/** files_struct and fs_struct of a process: its descriptors, working directory and umask. */
export class FileTable {
  readonly view: FileView;
  cwd = '/';
  umask = 0o022;
  /** RLIMIT_NOFILE: descriptors are below it. */
  limit = DEFAULT_FILE_LIMIT;
  readonly #slots = new Map<number, Slot>();

  /** Preconditions: the view has its standard streams; they become 0, 1 and 2. */
  constructor(view: FileView) {
    this.view = view;
    const { stdin, stdout, stderr } = view.streams;
    // A shell's child shares one read-write description of the terminal; ends of pipes are one-way.
    this.install(new FileDescription(stdin, stdin.terminal === undefined ? O.RDONLY : O.RDWR));
    this.install(new FileDescription(stdout, stdout.terminal === undefined ? O.WRONLY : O.RDWR));
    this.install(new FileDescription(stderr, stderr.terminal === undefined ? O.WRONLY : O.RDWR));
  }

  get(fd: number): FileDescription | undefined {
    return this.#slots.get(fd)?.description;
  }

  /** Open descriptors in order. */
  numbers(): readonly number[] {
    return [...this.#slots.keys()].sort((a, b) => a - b);
  }

  closesOnExec(fd: number): boolean {
    return this.#slots.get(fd)?.closeOnExec ?? false;
  }

  /** Preconditions: the descriptor is open. */
  setCloseOnExec(fd: number, value: boolean): void {
    const slot = this.#slots.get(fd);
    if (slot !== undefined) slot.closeOnExec = value;
  }

  /** Gives the description the lowest free number from `from` on. */
  install(description: FileDescription, from = 0, closeOnExec = false): number | 'EMFILE' {
    let fd = from;
    while (this.#slots.has(fd)) fd++;
    if (fd >= this.limit) return 'EMFILE';
    this.#put(fd, description, closeOnExec);
    return fd;
  }

  /** dup2: closes what was there. Preconditions: `fd` is below the limit. */
  replace(fd: number, description: FileDescription, closeOnExec: boolean): void {
    // Taken first, so that the last reference is not dropped in between.
    description.references++;
    this.close(fd);
    this.#put(fd, description, closeOnExec);
    description.references--;
  }

  close(fd: number): ErrnoName | null {
    const slot = this.#slots.get(fd);
    if (slot === undefined) return 'EBADF';
    this.#slots.delete(fd);
    if (--slot.description.references === 0) slot.description.file.closed?.();
    return null;
  }

  closeAll(): void {
    for (const fd of this.numbers()) this.close(fd);
  }

  capture(): unknown {
    const slots = [...this.#slots].map(
      ([fd, { description, closeOnExec }]) => [fd, description, closeOnExec] as const,
    );
    const descriptions = [...new Set(slots.map(([, description]) => description))].map(
      (one) =>
        [
          one,
          { flags: one.flags, position: one.position, references: one.references },
          one.file.capture?.(),
        ] as const,
    );
    const { cwd, umask, limit, view } = this;
    return { slots, descriptions, cwd, umask, limit, view: view.capture() } satisfies Captured;
  }

  restore(state: unknown): void {
    const { slots, descriptions, cwd, umask, limit, view } = state as Captured;
    this.view.restore(view);
    this.#slots.clear();
    for (const [fd, description, closeOnExec] of slots)
      this.#slots.set(fd, { description, closeOnExec });
    for (const [description, values, file] of descriptions) {
      Object.assign(description, values);
      description.file.restore?.(file);
    }
    Object.assign(this, { cwd, umask, limit });
  }

  #put(fd: number, description: FileDescription, closeOnExec: boolean): void {
    this.#slots.set(fd, { description, closeOnExec });
    if (description.references++ === 0) description.file.opened?.();
  }
}
