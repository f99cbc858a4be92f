import { type ErrnoName, errnoNumber } from '../abi/errno.ts';
import { bytesText, textBytes } from '../base/byte-text.ts';
import { TraplineError } from '../base/errors.ts';
import { bindDefinition, type Definition, parseDefinition } from '../consumers/event/definition.ts';
import type { EventContext, ProbeEvent } from '../consumers/event/event.ts';
import { type DefinitionFault, faultError } from '../consumers/event/fault.ts';
import type { ProfileEntry } from '../consumers/event/json.ts';
import type { Probe } from '../consumers/event/probe.ts';
import type { TraceSink } from '../consumers/event/record.ts';
import type { RecordFilter } from '../consumers/perf/index.ts';
import { TraceControl } from '../consumers/tracefs/control.ts';
import { FilterFault } from '../consumers/tracefs/filter/fault.ts';
import { Filter } from '../consumers/tracefs/filter/filter.ts';
import { traceRoot } from '../consumers/tracefs/nodes.ts';
import { TracefsTree } from '../consumers/tracefs/tree.ts';
import type { FileView } from '../kernel/files/file-view.ts';
import type { OpenFile } from '../kernel/files/open-file.ts';
import type { Attacher } from './attach.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator, Place } from './locate.ts';

/** Where the guest finds it. */
const MOUNT_POINT = '/sys/kernel/tracing';

/** What a {@link Tracefs} is made of. */
export interface TracefsParts {
  readonly files: FileView;
  readonly locator: Locator;
  readonly attacher: Attacher;
  readonly context: EventContext;
  /** Nanoseconds of the machine's clock. */
  now(): bigint;
}

/** How {@link Tracefs.write} opens the file. */
export interface TracefsWriteOptions {
  /** With O_TRUNC, as `>` of a shell does: clears `trace`, `error_log` and `uprobe_events` first. Default: false, as `>>`. */
  readonly truncate?: boolean;
}

/**
 * The machine's tracefs: probes defined as text, their records and counters. {@link Tracefs.read}
 * and {@link Tracefs.write} are the files that the guest has at `/sys/kernel/tracing`.
 */
export class Tracefs {
  readonly #locator: Locator;
  readonly #attacher: Attacher;
  readonly #control: TraceControl;
  readonly #tree: TracefsTree;
  /** Open for as long as the machine lives: half a line may be left of the last read. */
  readonly #pipe: OpenFile;

  constructor({ files, locator, attacher, context, now }: TracefsParts) {
    this.#locator = locator;
    this.#attacher = attacher;
    const lookup = {
      kindOf: (path: string) => locator.kindOf(guestPath(path)),
      inode: (path: string) => files.inode(guestPath(path)),
    };
    this.#control = new TraceControl(context, lookup, now);
    this.#tree = new TracefsTree(traceRoot(this.#control), this.#control, MOUNT_POINT);
    this.#pipe = this.#tree.openSpecial('trace_pipe') as OpenFile;
    files.mounts.add({
      path: MOUNT_POINT,
      tree: this.#tree,
      root: '',
      writable: false,
      refuses: { make: 'EPERM', remove: 'EPERM' },
      special: (path) => this.#tree.openSpecial(path),
    });
  }

  /** Gets every record when it is written; null = records go to the buffer only. */
  set sink(sink: TraceSink | null) {
    this.#control.array.sink = sink;
  }

  /**
   * Defines a probe and enables it.
   * @param text a line of the kernel's `uprobe_events` grammar, or its extensions for symbols
   * @throws TraplineError `bad-probe` with the kernel's reason and errno
   */
  define(text: string): Link {
    const parsed = parseDefinition(text, { lookup: (path) => this.#locator.kindOf(path) });
    if (!parsed.ok) throw this.#refused(parsed.fault);
    const { definition } = parsed;
    const places = this.#locator.places(definition.site, definition.command);
    const undo: (() => void)[] = [];
    const detach = (): void => {
      for (const step of undo.splice(0).reverse()) step();
    };
    try {
      for (const place of places) this.#add(definition, place, undo);
    } catch (error) {
      detach();
      throw error;
    }
    return makeLink(places, detach);
  }

  /** A filter expression, for perf: what passes, or the kernel's errno. */
  parseFilter(text: string, event: ProbeEvent): RecordFilter | ErrnoName {
    try {
      const filter = Filter.parse(text, event);
      return (record) => filter.accepts(record);
    } catch (fault) {
      if (fault instanceof FilterFault) return fault.errno;
      throw fault;
    }
  }

  /** The event of an id, for perf. */
  eventById(id: number): ProbeEvent | undefined {
    return this.#control.events.all.find((event) => event.id === id);
  }

  /** The event of a name; what other consumers hang themselves on. */
  find(group: string, event: string): ProbeEvent | undefined {
    return this.#control.events.find(group, event);
  }

  /**
   * Text of a file, as a program would read it: `trace`, `error_log`, `events/GROUP/EVENT/format` …
   * Reading `trace_pipe` takes the records away, and gives nothing when there are none.
   * @throws TraplineError `bad-option` with the errno of open(2) or read(2)
   */
  read(path: string): string {
    const file = path === 'trace_pipe' ? this.#pipe : this.#open(path);
    const into = new Uint8Array(1 << 16);
    let position = 0n;
    let whole = new Uint8Array();
    for (;;) {
      const got = file.read(position, into);
      if (typeof got === 'string') throw failure('read', path, got, null);
      if (typeof got !== 'number' || got === 0) break;
      position += BigInt(got);
      const longer = new Uint8Array(whole.length + got);
      longer.set(whole);
      longer.set(into.subarray(0, got), whole.length);
      whole = longer;
    }
    return bytesText(whole);
  }

  /**
   * Writes text to a file, as one write(2) would: a definition to `uprobe_events`, `1` to an
   * `enable`, an expression to a `filter`, a trigger to a `trigger`.
   * @throws TraplineError `bad-probe` with the kernel's errno, and its words where it has any
   */
  write(path: string, text: string, options: TracefsWriteOptions = {}): void {
    const file = this.#open(path);
    const error = options.truncate === true ? (file.truncate?.() ?? null) : null;
    if (error !== null) throw failure('open', path, error, null);
    const before = this.#control.array.errors.latest;
    const written = file.write(0n, textBytes(text));
    if (typeof written !== 'string') return;
    const { latest } = this.#control.array.errors;
    throw failure('write', path, written, latest === before ? null : (latest?.text ?? null));
  }

  /** Names in a directory, sorted. @throws TraplineError `bad-option` */
  list(path: string): readonly string[] {
    const listed = this.#tree.list(path);
    if (typeof listed === 'string') throw failure('list', path, listed, null);
    return listed.map(({ name }) => name).sort();
  }

  /** Lines of `uprobe_profile`, and the returns that were missed. */
  profile(): readonly ProfileEntry[] {
    return this.#control.events.probes.map(({ definition, hits, missed }) => ({
      path: definition.path,
      group: definition.group,
      event: definition.event,
      hits,
      missed,
    }));
  }

  /** One sentence for each probe that could not fire so far: the kernel accepts such probes silently. */
  silent(): readonly string[] {
    return this.#control.events.probes
      .filter((probe) => probe.neverInserted)
      .map(({ inode, definition: { command, offset } }) => {
        const why = this.#attacher.silence({ inode, offset });
        return `probe "${command}" was never inserted: ${why}`;
      });
  }

  #open(path: string): OpenFile {
    const file = this.#tree.openSpecial(path);
    if (file === undefined)
      throw failure('open', path, this.#tree.node(path) === undefined ? 'ENOENT' : 'EISDIR', null);
    if (typeof file === 'string') throw failure('open', path, file, null);
    return file;
  }

  #refused(fault: DefinitionFault): TraplineError {
    this.#control.log(fault);
    return faultError(fault);
  }

  #add(definition: Definition, place: Place, undo: (() => void)[]): void {
    const bound = bindDefinition(definition, place.path, place.offset, place.refCtr);
    const added = this.#control.events.add(bound, place.inode);
    if (!added.ok) throw this.#refused(added.fault);
    const { probe } = added;
    undo.push(() => this.#remove(probe));
    const errno = this.#enable(probe);
    if (errno !== null) throw this.#attacher.refusal(errno, place, definition.command);
  }

  /** A sibling of an enabled event is registered at once: whoever defines here wants hits. */
  #enable(probe: Probe): ErrnoName | null {
    const file = this.#control.array.file(probe.event);
    return (file.registered ? probe.register() : null) ?? file.enable()?.errno ?? null;
  }

  #remove(probe: Probe): void {
    probe.unregister();
    if (probe.event.probes.length === 1) this.#control.array.file(probe.event).disable();
    this.#control.remove(probe);
  }
}

/** The kernel starts a relative path where the writer is; the guest starts in its root. */
const guestPath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);

const failure = (
  what: 'open' | 'read' | 'write' | 'list',
  path: string,
  errno: ErrnoName,
  reason: string | null,
): TraplineError =>
  new TraplineError(
    what === 'write' ? 'bad-probe' : 'bad-option',
    `tracefs: cannot ${what} ${path}: ${reason === null ? '' : `${reason} `}(${errno}, errno ${errnoNumber(errno)})`,
    { errno },
  );
