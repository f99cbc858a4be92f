import type { EventRecord } from '../../event/event-record.ts';
import type { EventFile } from '../event-file.ts';
import type { Filter } from '../filter/filter.ts';
import type { TraceArray } from '../trace-array.ts';
import type { Count } from './command.ts';

/** What a trigger switches. */
export interface TriggerAction {
  /** As the `trigger` file shows it. */
  readonly name: string;
  /** The event it switches; null = tracing itself. An event has one trigger a target. */
  readonly target: EventFile | null;
  /** Acts when the event's own record has been written. */
  readonly afterwards: boolean;
  /** Already so: then nothing is done or counted. */
  isDone(): boolean;
  act(): void;
}

export const switchTracing = (array: TraceArray, on: boolean): TriggerAction => ({
  name: on ? 'traceon' : 'traceoff',
  target: null,
  afterwards: !on,
  isDone: () => array.on === on,
  act: () => {
    array.on = on;
  },
});

export const switchEvent = (target: EventFile, on: boolean): TriggerAction => ({
  name: `${on ? 'enable_event' : 'disable_event'}:${target.event.group}:${target.event.name}`,
  target,
  afterwards: false,
  isDone: () => target.muted !== on,
  act: () => {
    target.muted = !on;
  },
});

/** One trigger of one event. */
export class Trigger {
  readonly action: TriggerAction;
  readonly filter: Filter | null;
  #left: Count;

  constructor(action: TriggerAction, count: Count, filter: Filter | null) {
    this.action = action;
    this.#left = count;
    this.filter = filter;
  }

  /** It has to see the record first. */
  get needsRecord(): boolean {
    return this.filter !== null || this.action.afterwards;
  }

  accepts(record: EventRecord): boolean {
    return this.filter?.accepts(record) ?? true;
  }

  fire(): void {
    if (this.action.isDone() || this.#left === 0n) return;
    if (this.#left !== null) this.#left--;
    this.action.act();
  }

  /** The answer puts the count back. */
  capture(): () => void {
    const left = this.#left;
    return () => {
      this.#left = left;
    };
  }

  /** A line of the `trigger` file, without the line end. */
  text(): string {
    const count = this.#left === null ? 'unlimited' : `count=${this.#left}`;
    const filter = this.filter === null ? '' : ` if ${this.filter.text}`;
    return `${this.action.name}:${count}${filter}`;
  }
}
