import type { ErrnoName } from '../../abi/errno.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { EventUser, ProbeEvent } from '../event/event.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { PerfEvent } from './event.ts';

/** perf's side of one probe event: the perf events opened on it. */
export class PerfUser implements EventUser {
  readonly kind = 'perf';
  readonly event: ProbeEvent;
  #events: readonly PerfEvent[] = [];

  constructor(event: ProbeEvent) {
    this.event = event;
  }

  get events(): readonly PerfEvent[] {
    return this.#events;
  }

  /** uprobe_perf_filter: somebody watches everything, or a task of this address space. */
  filter(mm: Mm): boolean {
    for (const event of this.#events) if (event.watchesMm(mm)) return true;
    return false;
  }

  /** __uprobe_perf_func: programs first, then the arguments, whoever is active. */
  record(record: EventRecord): void {
    for (const { program } of this.#events) if (program !== null && !program(record.hit)) return;
    // perf takes twice the length at which a trace loses its record.
    record.build();
    for (const event of this.#events) event.hit(record);
  }

  /**
   * perf_trace_event_open: the first event registers the probes, wanted by nobody yet; each puts
   * breakpoints where it is the first to want them. One of enable_on_exec leaves that to exec.
   */
  open(event: PerfEvent): ErrnoName | null {
    if (this.#events.length === 0) {
      const refusal = this.event.use(this);
      if (refusal !== null) return refusal.errno;
    }
    const { task } = event.target;
    const isCovered =
      task === null
        ? this.#events.some(({ target }) => target.task === null)
        : event.attr.flags.has('enableOnExec') || this.filter(task.mm);
    this.#events = [...this.#events, event];
    const errno = isCovered ? null : this.event.apply(true);
    if (errno !== null) this.close(event);
    return errno;
  }

  /** perf_trace_event_close: breakpoints go where nobody wants them any more. */
  close(event: PerfEvent): void {
    if (!this.#events.includes(event)) return;
    this.#events = this.#events.filter((other) => other !== event);
    if (this.#events.length === 0) this.event.release(this);
    else this.event.apply(false);
  }

  capture(): unknown {
    return { events: this.#events, event: this.event.capture() };
  }

  restore(state: unknown): void {
    const saved = state as { events: readonly PerfEvent[]; event: unknown };
    this.#events = saved.events;
    this.event.restore(saved.event);
  }
}
