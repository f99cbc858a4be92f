import type { Inode } from '../../memory/backing.ts';
import type { FetchArg } from '../event/argument.ts';
import type { BoundDefinition } from '../event/definition.ts';
import { type EventContext, ProbeEvent } from '../event/event.ts';
import { type DefinitionFault, type FaultCode, faultOf, Refusal } from '../event/fault.ts';
import type { Probe } from '../event/probe.ts';

export type AddResult =
  | { readonly ok: true; readonly probe: Probe }
  | { readonly ok: false; readonly fault: DefinitionFault };

/**
 * Id of the first event. A kernel numbers those it was built with first: about so many; the number
 * itself is no promise of any kernel.
 */
const FIRST_ID = 1500;
/** `common_type` of a record has 16 bits. */
const LAST_ID = 0xffff;

const sameArg = (a: FetchArg, b: FetchArg): boolean =>
  a.name === b.name && a.type === b.type && a.count === b.count;

/** Index of the first argument that keeps two probes from being siblings, or -1. */
const firstDifference = (a: readonly FetchArg[], b: readonly FetchArg[]): number => {
  const common = Math.min(a.length, b.length);
  const index = a.slice(0, common).findIndex((arg, i) => !sameArg(arg, b[i]!));
  return index < 0 && a.length !== b.length ? common : index;
};

const samePlace = (probe: Probe, bound: BoundDefinition, inode: Inode): boolean =>
  probe.inode === inode && probe.definition.offset === bound.offset;

const sameExpressions = (a: BoundDefinition, b: BoundDefinition): boolean =>
  a.args.every((arg, i) => arg.expression === b.args[i]!.expression);

/** The probes of `uprobe_events`, and the events they make. */
export class TraceEvents {
  readonly #context: EventContext;
  readonly #probes: Probe[] = [];
  readonly #ids = new Set<number>();
  /** No id below it is free. */
  #lowest = FIRST_ID;

  constructor(context: EventContext) {
    this.#context = context;
  }

  /** In the order of definition. */
  get probes(): readonly Probe[] {
    return this.#probes;
  }

  /** In the order of their first definitions. */
  get all(): readonly ProbeEvent[] {
    return [...new Set(this.#probes.map(({ event }) => event))];
  }

  /**
   * Adds a definition, to an existing event when the name is known and type and arguments agree.
   * @param inode the probed file; the same object for the same file.
   */
  add(bound: BoundDefinition, inode: Inode): AddResult {
    const refusal = this.#check(bound, inode);
    if (refusal !== null) return { ok: false, fault: faultOf(refusal, bound.command.split(' ')) };
    const known = this.find(bound.group, bound.event);
    const probe = known?.append(bound, inode) ?? this.#makeEvent(bound, inode);
    if (probe === null) {
      const none = new Refusal(null, 0, 0, 'ENODEV', 'all event ids are taken');
      return { ok: false, fault: faultOf(none, bound.command.split(' ')) };
    }
    this.#probes.push(probe);
    return { ok: true, probe };
  }

  /** The first probe of a new event with the lowest free id (register_trace_event); null if there is none. */
  #makeEvent(bound: BoundDefinition, inode: Inode): Probe | null {
    while (this.#ids.has(this.#lowest)) this.#lowest++;
    const id = this.#lowest;
    if (id > LAST_ID) return null;
    this.#ids.add(id);
    return new ProbeEvent(this.#context, id, bound, inode).probes[0]!;
  }

  find(group: string, name: string): ProbeEvent | undefined {
    return this.#probes.find(({ event }) => event.group === group && event.name === name)?.event;
  }

  /** Forgets a probe. */
  remove(probe: Probe): void {
    const index = this.#probes.indexOf(probe);
    if (index < 0) return;
    this.#probes.splice(index, 1);
    const { event } = probe;
    event.remove(probe);
    if (event.probes.length > 0) return;
    this.#ids.delete(event.id);
    this.#lowest = Math.min(this.#lowest, event.id);
  }

  /** The answer puts everything back. */
  capture(): () => void {
    const probes = [...this.#probes];
    const events = this.all.map((event) => [event, event.capture()] as const);
    return () => {
      this.#probes.splice(0, Number.POSITIVE_INFINITY, ...probes);
      this.#ids.clear();
      for (const { id } of this.all) this.#ids.add(id);
      this.#lowest = FIRST_ID;
      for (const [event, state] of events) event.restore(state);
    };
  }

  #check(bound: BoundDefinition, inode: Inode): Refusal | null {
    const exists = (code: FaultCode, word = 0): Refusal => new Refusal(code, word, 0, 'EEXIST');
    const clash = this.#probes.some(
      (probe) => samePlace(probe, bound, inode) && probe.definition.refCtr !== bound.refCtr,
    );
    if (clash)
      return new Refusal(null, 0, 0, 'EINVAL', 'another probe there has another reference counter');
    const event = this.find(bound.group, bound.event);
    if (event === undefined) return null;
    if (event.kind !== bound.kind) return exists('DIFF_PROBE_TYPE');
    const [first] = event.probes;
    const different = firstDifference(bound.args, first!.definition.args);
    if (different >= 0) return exists('DIFF_ARG_TYPE', different + 2);
    const same = event.probes.some(
      (probe) => samePlace(probe, bound, inode) && sameExpressions(probe.definition, bound),
    );
    return same ? exists('SAME_PROBE') : null;
  }
}
