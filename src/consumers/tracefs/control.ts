import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode } from '../../memory/backing.ts';
import {
  bindDefinition,
  type Definition,
  listingOf,
  parseDefinition,
  splitWords,
} from '../event/definition.ts';
import type { EventContext, ProbeEvent } from '../event/event.ts';
import { type DefinitionFault, FAULT_TEXT } from '../event/fault.ts';
import type { Probe } from '../event/probe.ts';
import type { PathKind } from '../event/site.ts';
import { profileLine } from '../event/text.ts';
import { deleteProbes, runCommands } from './commands.ts';
import type { EventFile } from './event-file.ts';
import { TraceEvents } from './events.ts';
import { FILTER_FAULT_TEXT, FilterFault, faultFilterText } from './filter/fault.ts';
import { Filter } from './filter/filter.ts';
import { TraceArray } from './trace-array.ts';

/** Files by guest path, as a definition names them. */
export interface FileLookup {
  kindOf(path: string): PathKind;
  inode(path: string): Inode | ErrnoName;
}

/** PAGE_SIZE: writes to `filter` and `trigger` are shorter. */
export const MAX_FILTER_WRITE = 4096;

/** All state behind the files of /sys/kernel/tracing. */
export class TraceControl {
  readonly events: TraceEvents;
  readonly array: TraceArray;
  readonly #files: FileLookup;

  /** @param now nanoseconds of the machine's clock */
  constructor(context: EventContext, files: FileLookup, now: () => bigint) {
    this.events = new TraceEvents(context);
    this.array = new TraceArray(now);
    this.#files = files;
  }

  /** Notes a refused definition in `error_log`, if the kernel does. */
  log({ log, command }: DefinitionFault): void {
    if (log === null) return;
    const text = FAULT_TEXT[log.code];
    const timeNs = this.array.now();
    this.array.errors.add({ timeNs, location: 'trace_uprobe', text, command, caret: log.caret });
  }

  /** Takes a probe out; EBUSY when it is the last of an event in use. */
  remove(probe: Probe): ErrnoName | null {
    const { event } = probe;
    const last = event.probes.length === 1;
    if (last && event.enabled) return 'EBUSY';
    this.events.remove(probe);
    if (last) this.array.forget(event);
    return null;
  }

  /** The answer puts everything back. */
  capture(): () => void {
    const restores = [this.events.capture(), this.array.capture()];
    return () => {
      for (const restore of restores) restore();
    };
  }

  /** Text of `uprobe_events`. */
  listing(): string {
    return this.events.probes.map(({ definition }) => `${listingOf(definition)}\n`).join('');
  }

  /** Text of `uprobe_profile`. */
  profile(): string {
    return this.events.probes
      .map(({ definition: { path, event }, hits }) => `${profileLine(path, event, hits)}\n`)
      .join('');
  }

  /** What was written to `uprobe_events`. */
  writeEvents(text: string): ErrnoName | null {
    return runCommands(text, (line) => this.#command(line));
  }

  /** Opening `uprobe_events` for writing with O_TRUNC: all events go, or none if one is in use. */
  removeAll(): ErrnoName | null {
    const { probes } = this.events;
    if (probes.some(({ event }) => event.enabled)) return 'EBUSY';
    for (const probe of [...probes]) this.remove(probe);
    return null;
  }

  /** What was written to an event's `filter`. */
  writeFilter(file: EventFile, written: string): ErrnoName | null {
    if (written.length >= MAX_FILTER_WRITE) return 'EINVAL';
    const text = written.trimEnd();
    if (text.trimStart() === '0') {
      file.setFilter(null, null);
      return null;
    }
    const filter = this.#parseFilter(text, file.event);
    if (filter instanceof Filter) {
      file.setFilter(filter, text);
      return null;
    }
    file.setFilter(null, faultFilterText(text, filter));
    return filter.errno;
  }

  /** What was written to a group's `filter`: events without the fields lose the filter they had. */
  writeGroupFilter(files: readonly EventFile[], written: string): ErrnoName | null {
    if (written.length >= MAX_FILTER_WRITE) return 'EINVAL';
    const text = written.trimEnd();
    for (const file of files) {
      if (text.trimStart() === '0') file.setFilter(null, null);
      else this.#setGroupFilter(file, text);
    }
    return null;
  }

  /** A trigger's filter, or why it is refused, which is noted in `error_log`. */
  triggerFilter(text: string, file: EventFile): Filter | ErrnoName {
    const filter = this.#parseFilter(text, file.event);
    return filter instanceof Filter ? filter : filter.errno;
  }

  #setGroupFilter(file: EventFile, text: string): void {
    try {
      file.setFilter(Filter.parse(text, file.event), text);
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      const fault = new FilterFault('BAD_SUBSYS_FILTER', 0);
      this.#logFilter(text, fault);
      file.setFilter(null, faultFilterText(text, fault));
    }
  }

  #parseFilter(text: string, event: ProbeEvent): Filter | FilterFault {
    try {
      return Filter.parse(text, event);
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      this.#logFilter(text, error);
      return error;
    }
  }

  #logFilter(command: string, { code, at }: FilterFault): void {
    this.array.errors.add({
      timeNs: this.array.now(),
      location: 'event filter parse error',
      text: code === null ? 'Error' : FILTER_FAULT_TEXT[code],
      command,
      caret: at,
    });
  }

  #command(line: string): ErrnoName | null {
    const [first] = splitWords(line);
    if (first === undefined) return null;
    return first.startsWith('-')
      ? deleteProbes(line, this.events.probes, (probe) => this.remove(probe))
      : this.#define(line);
  }

  #define(line: string): ErrnoName | null {
    const parsed = parseDefinition(line, {
      kernelOnly: true,
      lookup: (path) => this.#files.kindOf(path),
    });
    const fault = parsed.ok ? this.#add(parsed.definition) : parsed.fault;
    if (fault === null) return null;
    this.log(fault);
    return fault.errno;
  }

  #add(definition: Definition): DefinitionFault | null {
    const { site, command } = definition;
    const inode = this.#files.inode(site.path);
    if (typeof inode === 'string') return { errno: inode, log: null, command };
    // The grammar knows nothing else here.
    const offset = site.spot.kind === 'offset' ? site.spot.offset : 0n;
    const added = this.events.add(bindDefinition(definition, site.path, offset), inode);
    return added.ok ? null : added.fault;
  }
}
