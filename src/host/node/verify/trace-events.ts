/**
 * Events of a group, and a trace instance, that only we have in this machine's tracefs. Definitions
 * are appended, never replaced, and all is taken away again.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmdirSync, writeSync } from 'node:fs';
import { TRACEFS } from './here.ts';

/** One line of `uprobe_events` for us: its group is ours. */
export interface NativeProbe {
  readonly event: string;
  /** Path of the probed file. */
  readonly path: string;
  /** `p:GROUP/EVENT PATH:0xOFFSET … ` */
  readonly definition: string;
}

const LISTING = /^([pr]):[^/]+\/(\S+) (\S+):(0x\S+.*)$/;

/** Puts a line of `uprobe_events` into another group. */
export const inGroup = (line: string, group: string): NativeProbe => {
  const [, letter, event = '', path = '', rest] = LISTING.exec(line) ?? [];
  return { event, path, definition: `${letter}:${group}/${event} ${path}:${rest}` };
};

/** Of the instance's ring buffer, a CPU. */
const BUFFER_KB = '16384';

const write = (path: string, text: string, flag: 'w' | 'a'): void => {
  // Never created, never truncated: 'w' would empty uprobe_events.
  const fd = openSync(path, flag === 'a' ? 'a' : 'r+');
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
};

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

export class TraceEvents {
  readonly #root: string;
  readonly #group: string;
  readonly #instance: string;
  readonly #probes: readonly NativeProbe[];
  #defined = 0;

  /** @param root where tracefs is mounted */
  constructor(listing: readonly string[], group: string, root: string = TRACEFS) {
    this.#root = root;
    this.#group = group;
    this.#instance = `${root}/instances/${group}`;
    this.#probes = listing.map((line) => inGroup(line, group));
  }

  /** Defines and enables everything, in order: of several probes at one site the newest runs first. */
  enable(): void {
    mkdirSync(this.#instance);
    write(`${this.#instance}/buffer_size_kb`, BUFFER_KB, 'w');
    for (const { definition } of this.#probes) {
      write(`${this.#root}/uprobe_events`, `${definition}\n`, 'a');
      this.#defined++;
    }
    for (const event of unique(this.#probes.map((probe) => probe.event)))
      write(`${this.#eventDirectory()}/${event}/enable`, '1', 'w');
  }

  /** The instance's trace, as bytes one a character: arguments may hold any. */
  trace(): string {
    return readFileSync(`${this.#instance}/trace`, 'latin1');
  }

  /** Records that did not fit. */
  lost(): number {
    const stats = readFileSync(`${this.#instance}/per_cpu/cpu0/stats`, 'latin1');
    return Number(/^overrun: (\d+)/m.exec(stats)?.[1] ?? 0);
  }

  /** `EVENT HITS`, in the order of definition. */
  hits(): readonly string[] {
    const rows = readFileSync(`${this.#root}/uprobe_profile`, 'latin1')
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    // The newest probes come last; others may have events of the same names.
    const own = rows.filter(([path, event]) =>
      this.#probes.some((probe) => probe.path === path && probe.event === event),
    );
    return own.slice(-this.#probes.length).map(([, event, count]) => `${event} ${count}`);
  }

  /**
   * Disables, then deletes. Where disabling fails nothing is deleted: Linux 6.18 oopses when one of
   * several probes of an enabled event goes.
   */
  remove(): void {
    if (this.#defined > 0) write(`${this.#eventDirectory()}/enable`, '0', 'w');
    const events = unique(this.#probes.slice(0, this.#defined).map(({ event }) => event));
    this.#defined = 0;
    rmdirSync(this.#instance);
    for (const event of events)
      write(`${this.#root}/uprobe_events`, `-:${this.#group}/${event}\n`, 'a');
  }

  #eventDirectory(): string {
    return `${this.#instance}/events/${this.#group}`;
  }
}
