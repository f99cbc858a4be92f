import type { ErrnoName } from '../../abi/errno.ts';
import type { EnableRefusal, EventUser, ProbeEvent } from '../event/event.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { Filter } from './filter/filter.ts';
import type { TraceArray } from './trace-array.ts';
import type { Trigger } from './trigger/trigger.ts';

/** One event in one trace instance (trace_event_file): whether it records, its filter and triggers. */
export class EventFile implements EventUser {
  readonly kind = 'trace';
  readonly event: ProbeEvent;
  /** Registered, but records are thrown away (soft-disabled). */
  muted = false;
  /** It has been registered at some time. */
  wasEnabled = false;
  /** What `filter` shows: the filter, or the text of its refusal. */
  filterText: string | null = null;
  readonly #array: TraceArray;
  /** Triggers that are on this event, or about it: they keep it registered. */
  #holders = 0;
  #filter: Filter | null = null;
  /** Newest first. */
  #triggers: readonly Trigger[] = [];
  /** Some trigger has to see the record. */
  #triggersNeedRecord = false;

  constructor(event: ProbeEvent, array: TraceArray) {
    this.event = event;
    this.#array = array;
  }

  /** The probes are in, be it for triggers only. */
  get registered(): boolean {
    return this.event.users.includes(this);
  }

  get triggers(): readonly Trigger[] {
    return this.#triggers;
  }

  /** What `enable` shows: a star says that a trigger may change it. */
  get state(): string {
    const held = this.muted || this.#holders > 0 ? '*' : '';
    return `${this.registered && !this.muted ? 1 : 0}${held}`;
  }

  enable(): EnableRefusal | null {
    this.muted = false;
    return this.#register();
  }

  disable(): void {
    if (this.#holders > 0) this.muted = true;
    else this.#unregister();
  }

  /** Registers for a trigger, muted if nobody else wanted it. */
  hold(): EnableRefusal | null {
    if (this.#holders++ > 0 || this.registered) return null;
    this.muted = true;
    const refusal = this.#register();
    if (refusal !== null) this.drop();
    return refusal;
  }

  /** Counterpart of {@link hold}. */
  drop(): void {
    if (--this.#holders > 0) return;
    if (this.muted) this.#unregister();
    this.muted = false;
  }

  /** @param text what the file shows from now on */
  setFilter(filter: Filter | null, text: string | null): void {
    this.#filter = filter;
    this.filterText = text;
  }

  /** EEXIST: there is one about the same target. */
  addTrigger(trigger: Trigger): ErrnoName | null {
    const { target } = trigger.action;
    if (this.#triggers.some(({ action }) => action.target === target)) return 'EEXIST';
    const refusal = this.hold();
    if (refusal !== null) return refusal.errno;
    this.#setTriggers([trigger, ...this.#triggers]);
    return null;
  }

  /** The trigger that was there. */
  removeTrigger(target: EventFile | null): Trigger | undefined {
    const found = this.#triggers.find(({ action }) => action.target === target);
    if (found === undefined) return undefined;
    this.#setTriggers(this.#triggers.filter((other) => other !== found));
    this.drop();
    return found;
  }

  /** The answer puts everything back; the event restores its users itself. */
  capture(): () => void {
    const { muted, wasEnabled, filterText } = this;
    const holders = this.#holders;
    const filter = this.#filter;
    const triggers = this.#triggers;
    const restores = triggers.map((trigger) => trigger.capture());
    return () => {
      Object.assign(this, { muted, wasEnabled });
      this.setFilter(filter, filterText);
      this.#holders = holders;
      this.#setTriggers(triggers);
      for (const restore of restores) restore();
    };
  }

  record(record: EventRecord): void {
    const needed = this.#triggersNeedRecord;
    if (!needed) for (const trigger of this.#triggers) trigger.fire();
    const { on } = this.#array;
    if (!needed && (this.muted || !on)) return;
    if (!record.build()) {
      this.#array.lost++;
      return;
    }
    const later = needed ? this.#fireConditional(record) : NONE;
    const kept = !this.muted && (this.#filter?.accepts(record) ?? true);
    if (kept && on) this.#array.commit(record);
    for (const trigger of later) trigger.fire();
  }

  /** Fires those that accept the record; the answer is those that act afterwards. */
  #fireConditional(record: EventRecord): readonly Trigger[] {
    const accepted = this.#triggers.filter((trigger) => trigger.accepts(record));
    for (const trigger of accepted) if (!trigger.action.afterwards) trigger.fire();
    return accepted.filter(({ action }) => action.afterwards);
  }

  #setTriggers(triggers: readonly Trigger[]): void {
    this.#triggers = triggers;
    this.#triggersNeedRecord = triggers.some(({ needsRecord }) => needsRecord);
  }

  #register(): EnableRefusal | null {
    if (this.registered) return null;
    this.wasEnabled = true;
    return this.event.use(this);
  }

  #unregister(): void {
    this.event.release(this);
  }
}

const NONE: readonly Trigger[] = [];
