import {
  type BoundDefinition,
  bindDefinition,
  type Definition,
  parseDefinition,
} from '../consumers/event/definition.ts';
import { faultError } from '../consumers/event/fault.ts';
import type { ProfileEntry } from '../consumers/event/json.ts';
import type { TraceSink } from '../consumers/event/record.ts';
import { TraceEvents } from '../consumers/tracefs/events.ts';
import { type TraceContext, type TracefsProbe, traceContext } from '../consumers/tracefs/probe.ts';
import type { Attached, Attacher } from './attach.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator, Place } from './locate.ts';

/** The machine's `uprobe_events`: definitions, their records and their counters. */
export class Tracefs {
  readonly #locator: Locator;
  readonly #attacher: Attacher;
  readonly #context: TraceContext;
  readonly #events: TraceEvents;
  readonly #attached = new Map<TracefsProbe, Attached>();

  constructor(locator: Locator, attacher: Attacher, now: () => bigint) {
    this.#locator = locator;
    this.#attacher = attacher;
    this.#context = traceContext(now, null);
    this.#events = new TraceEvents(this.#context);
  }

  /** Where records go; null = hits are counted and no argument is evaluated. */
  set sink(sink: TraceSink | null) {
    this.#context.sink = sink;
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

  /** Lines of `uprobe_profile`. */
  profile(): readonly ProfileEntry[] {
    return this.#events.probes.map((probe) => ({
      path: probe.definition.path,
      group: probe.definition.group,
      event: probe.definition.event,
      hits: probe.hits,
      missed: this.#attached.get(probe)?.missed() ?? 0,
    }));
  }

  /** One sentence for each probe that could not fire so far: the kernel accepts such probes silently. */
  silent(): readonly string[] {
    return [...this.#attached].flatMap(([{ definition }, attached]) => {
      const why = attached.neverInserted();
      return why === null ? [] : [`probe "${definition.command}" was never inserted: ${why}`];
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
    undo.push(() => this.#events.remove(probe));
    const attached = this.#attacher.attach(place, probe.consumer, definition.command);
    this.#attached.set(probe, attached);
    undo.push(() => {
      this.#attached.delete(probe);
      attached.detach();
    });
  }
}
