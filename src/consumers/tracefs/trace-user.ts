import { Reg } from '../../cpu/engine.ts';
import type { EventUser } from '../event/event.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { TraceSink } from '../event/record.ts';
import { registersOf } from '../event/registers.ts';
import { recordArgs } from '../event/value.ts';

/** Turns hits of events into trace records. */
export class TraceUser implements EventUser {
  readonly kind = 'trace';
  /** Where records go; null = only hits are counted and no argument is evaluated. */
  sink: TraceSink | null = null;
  /** Records that were longer than a ring buffer event. */
  lost = 0;
  /** Nanoseconds of the machine's clock. */
  readonly #now: () => bigint;

  constructor(now: () => bigint) {
    this.#now = now;
  }

  record(record: EventRecord): void {
    const { sink } = this;
    if (sink === null) return;
    if (!record.build()) {
      this.lost++;
      return;
    }
    const { hit, probe } = record;
    const { group, name, kind } = probe.event;
    sink.emit({
      timeNs: this.#now(),
      tgid: hit.task.tgid,
      tid: hit.task.tid,
      cpu: 0,
      comm: hit.task.comm,
      group,
      event: name,
      kind,
      via: hit.via,
      ip: kind === 'entry' ? hit.site : hit.regs.read(Reg.Rip),
      func: kind === 'entry' ? null : hit.site,
      args: recordArgs(probe.layout, record),
      regs: sink.wantsRegisters ? registersOf(hit.regs) : null,
    });
  }
}
