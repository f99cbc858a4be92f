import type { ErrnoName } from '../abi/errno.ts';
import {
  type BoundDefinition,
  bindDefinition,
  type Definition,
  parseDefinition,
} from '../consumers/event/definition.ts';
import type { EventContext, ProbeEvent } from '../consumers/event/event.ts';
import { faultError } from '../consumers/event/fault.ts';
import type { ProfileEntry } from '../consumers/event/json.ts';
import type { Probe } from '../consumers/event/probe.ts';
import type { TraceSink } from '../consumers/event/record.ts';
import { TraceEvents } from '../consumers/tracefs/events.ts';
import { TraceUser } from '../consumers/tracefs/trace-user.ts';
import type { Attacher } from './attach.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator, Place } from './locate.ts';

/** The machine's `uprobe_events`: definitions, their records and their counters. */
export class Tracefs {
  readonly #locator: Locator;
  readonly #attacher: Attacher;
  readonly #events: TraceEvents;
  readonly #user: TraceUser;

  constructor(locator: Locator, attacher: Attacher, context: EventContext, now: () => bigint) {
    this.#locator = locator;
    this.#attacher = attacher;
    this.#events = new TraceEvents(context);
    this.#user = new TraceUser(now);
  }

  /** Where records go; null = hits are counted and no argument is evaluated. */
  set sink(sink: TraceSink | null) {
    this.#user.sink = sink;
  }

  /**
   * Defines a probe and enables it.
   * @param text a line of the kernel's `uprobe_events` grammar, or its extensions for symbols
   * @throws TraplineError `bad-probe` with the kernel's reason and errno
   */
  define(text: string): Link {
    const parsed = parseDefinition(text, { lookup: (path) => this.#locator.kindOf(path) });
    if (!parsed.ok) throw faultError(parsed.fault);
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

  /** The event of an id, for perf. */
  eventById(id: number): ProbeEvent | undefined {
    return this.#events.probes.find(({ event }) => event.id === id)?.event;
  }

  /** Lines of `uprobe_profile`. */
  profile(): readonly ProfileEntry[] {
    return this.#events.probes.map(({ definition, hits, missed }) => ({
      path: definition.path,
      group: definition.group,
      event: definition.event,
      hits,
      missed,
    }));
  }

  /** One sentence for each probe that could not fire so far: the kernel accepts such probes silently. */
  silent(): readonly string[] {
    return this.#events.probes
      .filter((probe) => probe.neverInserted)
      .map(({ inode, definition: { command, offset } }) => {
        const why = this.#attacher.silence({ inode, offset });
        return `probe "${command}" was never inserted: ${why}`;
      });
  }

  #add(definition: Definition, place: Place, undo: (() => void)[]): void {
    const bound: BoundDefinition = bindDefinition(
      definition,
      place.path,
      place.offset,
      place.refCtr,
    );
    const added = this.#events.add(bound, place.inode);
    if (!added.ok) throw faultError(added.fault);
    const { probe } = added;
    undo.push(() => this.#remove(probe));
    const errno = this.#enable(probe);
    if (errno !== null) throw this.#attacher.refusal(errno, place, definition.command);
  }

  /** A sibling of an enabled event is registered at once: whoever defines here wants hits. */
  #enable(probe: Probe): ErrnoName | null {
    const { event } = probe;
    if (event.users.includes(this.#user)) return probe.register();
    return event.use(this.#user)?.errno ?? null;
  }

  #remove(probe: Probe): void {
    probe.unregister();
    if (probe.event.probes.length === 1) probe.event.release(this.#user);
    this.#events.remove(probe);
  }
}
