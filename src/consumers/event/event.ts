import type { ErrnoName } from '../../abi/errno.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Inode } from '../../memory/backing.ts';
import type { Uprobes } from '../../uprobes/index.ts';
import type { BoundDefinition } from './definition.ts';
import { EventRecord } from './event-record.ts';
import { Probe } from './probe.ts';

/** What all events of one machine share. */
export interface EventContext {
  readonly uprobes: Pick<Uprobes, 'register' | 'unregister' | 'apply'>;
  readonly record: EventRecord;
}

export const eventContext = (uprobes: EventContext['uprobes']): EventContext => ({
  uprobes,
  record: new EventRecord(),
});

/**
 * Who wants the hits of an event: a trace instance, or perf. The kernel lets an event serve one
 * kind at a time.
 */
export interface EventUser {
  readonly kind: 'trace' | 'perf';
  /** Whether the probes are wanted in an address space; absent = everywhere. */
  filter?(mm: Mm): boolean;
  /**
   * A hit: the entry of a `p` probe, the return of an `r` probe. The arguments are not evaluated
   * unless somebody calls `record.build()`; the first to do so does it for all users.
   */
  record(record: EventRecord): void;
}

/** Why an event cannot be enabled, and at which probe. */
export interface EnableRefusal {
  readonly errno: ErrnoName;
  /** Null when the event is in use by the other kind. */
  readonly probe: Probe | null;
}

/** Events that are nobody else's have no id. */
export const LOCAL_ID = 0;

/** One event: a name, the shape of its arguments, and one or more places (trace_probe_event). */
export class ProbeEvent {
  readonly context: EventContext;
  readonly id: number;
  readonly group: string;
  readonly name: string;
  readonly kind: 'entry' | 'return';
  readonly #probes: Probe[] = [];
  #users: readonly EventUser[] = [];

  /** The event of a definition, with its first probe. */
  constructor(context: EventContext, id: number, definition: BoundDefinition, inode: Inode) {
    this.context = context;
    this.id = id;
    this.group = definition.group;
    this.name = definition.event;
    this.kind = definition.kind;
    this.append(definition, inode);
  }

  /** At least one; in the order of definition. */
  get probes(): readonly Probe[] {
    return this.#probes;
  }

  /** In the order in which they came. */
  get users(): readonly EventUser[] {
    return this.#users;
  }

  get enabled(): boolean {
    return this.#users.length > 0;
  }

  /** A sibling. Preconditions: same kind, same arguments. It waits for the next {@link use}. */
  append(definition: BoundDefinition, inode: Inode): Probe {
    const probe = new Probe(this, definition, inode);
    this.#probes.push(probe);
    return probe;
  }

  /** Takes a probe out. */
  remove(probe: Probe): void {
    const index = this.#probes.indexOf(probe);
    if (index < 0) return;
    this.#probes.splice(index, 1);
    probe.unregister();
  }

  /** Whether any user wants hits in an address space. */
  wants(mm: Mm): boolean {
    for (const user of this.#users) if (user.filter === undefined || user.filter(mm)) return true;
    return false;
  }

  /**
   * Adds a user (probe_event_enable): the first registers every probe, and none stays when one is
   * refused. EINTR: the other kind has the event.
   */
  use(user: EventUser): EnableRefusal | null {
    if (this.#users.some(({ kind }) => kind !== user.kind)) return { errno: 'EINTR', probe: null };
    this.#users = [...this.#users, user];
    for (const probe of this.#probes) {
      const errno = probe.register();
      if (errno === null) continue;
      this.release(user);
      return { errno, probe };
    }
    return null;
  }

  /**
   * A user's filter has changed: breakpoints go where somebody wants them now (`add`), or away
   * where nobody does.
   */
  apply(add: boolean): ErrnoName | null {
    for (const probe of this.#probes) {
      const errno = probe.apply(add);
      if (errno !== null) return errno;
    }
    return null;
  }

  /** Takes a user away; the last takes the probes out. */
  release(user: EventUser): void {
    this.#users = this.#users.filter((other) => other !== user);
    if (this.#users.length > 0) return;
    for (const probe of this.#probes) probe.unregister();
  }

  /** Users and registrations; the breakpoints themselves belong to uprobes. */
  capture(): unknown {
    return { users: this.#users, probes: this.#probes.map((probe) => [probe, probe.capture()]) };
  }

  restore(state: unknown): void {
    const saved = state as { users: readonly EventUser[]; probes: readonly [Probe, unknown][] };
    this.#users = saved.users;
    this.#probes.splice(0, this.#probes.length, ...saved.probes.map(([probe]) => probe));
    for (const [probe, inside] of saved.probes) probe.restore(inside);
  }
}
