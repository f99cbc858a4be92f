import type { ProbeEvent } from '../event/event.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { TraceRecord, TraceSink } from '../event/record.ts';
import { registersOf } from '../event/registers.ts';
import { recordArgs } from '../event/value.ts';
import { ErrorLog } from './error-log.ts';
import { EventFile } from './event-file.ts';
import { RingBuffer, type StoredRecord } from './ring-buffer.ts';

/** Where `common_type` lies in a record. */
const TYPE_AT = 0;
/** First and second address of a record. */
const ADDRESS_AT = 8;
const RETURN_AT = 16;

/** A trace instance (trace_array): a buffer, a switch, and its own view of every event. */
export class TraceArray {
  /** `tracing_on`. */
  on = true;
  /** Records that were longer than a ring buffer event. */
  lost = 0;
  readonly ring = new RingBuffer();
  readonly errors = new ErrorLog();
  /** Gets every record when it is written, besides the buffer. */
  sink: TraceSink | null = null;
  readonly #now: () => bigint;
  /** By the id of the event, as records name it. */
  readonly #files = new Map<number, EventFile>();

  /** @param now nanoseconds of the machine's clock */
  constructor(now: () => bigint) {
    this.#now = now;
  }

  now(): bigint {
    return this.#now();
  }

  /** The event as this instance sees it. */
  file(event: ProbeEvent): EventFile {
    let file = this.#files.get(event.id);
    if (file === undefined) {
      file = new EventFile(event, this);
      this.#files.set(event.id, file);
    }
    return file;
  }

  /** Forgets an event that is gone. If it was ever enabled all records go, as its own could not be shown. */
  forget(event: ProbeEvent): void {
    if (this.#files.get(event.id)?.wasEnabled === true) this.ring.clear();
    this.#files.delete(event.id);
  }

  /** Writes a record. Preconditions: it is built. */
  commit(record: EventRecord): void {
    const timeNs = this.#now();
    this.ring.push(record, timeNs);
    const { sink } = this;
    if (sink === null) return;
    const { hit, probe, bytes, view } = record;
    const { task } = hit;
    const { tid, tgid, comm } = task;
    const stored: StoredRecord = { bytes, view, timeNs, tid, tgid, comm, via: hit.via };
    const regs = sink.wantsRegisters ? registersOf(hit.regs) : null;
    sink.emit({ ...traceRecord(probe.event, stored), regs });
  }

  /** The answer puts everything back. */
  capture(): () => void {
    const { on, lost } = this;
    const ring = this.ring.capture();
    const errors = this.errors.capture();
    const files = [...this.#files];
    const restores = files.map(([, file]) => file.capture());
    return () => {
      Object.assign(this, { on, lost });
      this.ring.restore(ring);
      this.errors.restore(errors);
      this.#files.clear();
      for (const [id, file] of files) this.#files.set(id, file);
      for (const restore of restores) restore();
    };
  }

  /** A record of the buffer as data. */
  decode(stored: StoredRecord): TraceRecord {
    const { event } = this.#files.get(stored.view.getUint16(TYPE_AT, true))!;
    return traceRecord(event, stored);
  }
}

const traceRecord = (event: ProbeEvent, stored: StoredRecord): TraceRecord => {
  const { view, timeNs, tgid, tid, comm, via } = stored;
  const returns = event.kind === 'return';
  return {
    timeNs,
    tgid,
    tid,
    cpu: 0,
    comm,
    group: event.group,
    event: event.name,
    kind: event.kind,
    via,
    ip: view.getBigUint64(returns ? RETURN_AT : ADDRESS_AT, true),
    func: returns ? view.getBigUint64(ADDRESS_AT, true) : null,
    args: recordArgs(event.probes[0]!.layout, stored),
    regs: null,
  };
};
