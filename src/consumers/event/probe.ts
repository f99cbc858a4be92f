import type { ErrnoName } from '../../abi/errno.ts';
import type { Inode } from '../../memory/backing.ts';
import {
  type Consumer,
  type Handle,
  HandlerResult,
  type Hit,
  type RegisterErrno,
} from '../../uprobes/index.ts';
import type { BoundDefinition } from './definition.ts';
import type { ProbeEvent } from './event.ts';
import { ArgLayout } from './layout.ts';

/** One definition at one place (trace_uprobe): what is registered with uprobes. */
export class Probe {
  readonly event: ProbeEvent;
  readonly definition: BoundDefinition;
  readonly layout: ArgLayout;
  /** The probed file; its identity tells probes apart. */
  readonly inode: Inode;
  /** As in `uprobe_profile`: counted at entry, for return probes too. */
  hits = 0;
  /** Misses of registrations that have ended. */
  #missed = 0;
  #handle: Handle | null = null;
  readonly #consumer: Consumer;

  constructor(event: ProbeEvent, definition: BoundDefinition, inode: Inode) {
    this.event = event;
    this.definition = definition;
    this.inode = inode;
    this.layout = new ArgLayout(definition.args, definition.kind, definition.offset);
    this.#consumer = consumerOf(this);
  }

  /** Return handlers that could not be armed. */
  get missed(): number {
    return this.#missed + (this.#handle?.missed ?? 0);
  }

  /** Registered, and no breakpoint has been written for it so far. */
  get neverInserted(): boolean {
    return this.#handle !== null && !this.#handle.inserted;
  }

  /** Registers with uprobes. A second call does nothing. */
  register(): RegisterErrno | null {
    if (this.#handle !== null) return null;
    const { offset, refCtr } = this.definition;
    const { uprobes } = this.event.context;
    const handle = uprobes.register(this.inode, offset, this.#consumer, { refCtrOffset: refCtr });
    if (typeof handle === 'string') return handle;
    this.#handle = handle;
    return null;
  }

  /** See `ProbeEvent.apply`. Preconditions: registered. */
  apply(add: boolean): ErrnoName | null {
    return this.#handle === null ? null : this.event.context.uprobes.apply(this.#handle, add);
  }

  /** A second call does nothing. */
  unregister(): void {
    if (this.#handle === null) return;
    this.event.context.uprobes.unregister(this.#handle);
    this.#missed += this.#handle.missed;
    this.#handle = null;
  }

  capture(): unknown {
    return { hits: this.hits, missed: this.#missed, handle: this.#handle };
  }

  restore(state: unknown): void {
    const saved = state as { hits: number; missed: number; handle: Handle | null };
    this.hits = saved.hits;
    this.#missed = saved.missed;
    this.#handle = saved.handle;
  }
}

/** uprobe_dispatcher and uretprobe_dispatcher. */
const consumerOf = (probe: Probe): Consumer => {
  const { event } = probe;
  const { record } = event.context;
  const filter: Consumer['filter'] = (mm) => event.wants(mm);
  const show = (hit: Hit): void => {
    record.begin(probe, hit);
    for (const user of event.users) user.record(record);
  };
  const count = ({ task }: Hit): HandlerResult => {
    probe.hits++;
    return event.wants(task.mm) ? HandlerResult.Continue : HandlerResult.Remove;
  };
  if (event.kind === 'return') return { filter, entry: count, return: show };
  return {
    filter,
    entry: (hit) => {
      const result = count(hit);
      if (result === HandlerResult.Continue) show(hit);
      return result;
    },
  };
};
