import { Sample } from '../../abi/perf.ts';
import type { Uprobes } from '../../uprobes/index.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { PerfEvent } from './event.ts';
import { RecordWriter } from './record-writer.ts';
import { encodeLost, SampleEncoder, type SampleSource } from './sample.ts';

/** The first byte of `push %rbp`. */
const PUSH_RBP = 0x55;

/** What samples need of the machine. */
export interface OutputServices {
  readonly uprobes: Pick<Uprobes, 'profile' | 'pendingReturns'>;
  now(): bigint;
}

/** Makes samples and puts them where they go. One a machine. */
export class SampleOutput {
  readonly #services: OutputServices;
  readonly #writer = new RecordWriter();
  readonly #encoders = new WeakMap<PerfEvent, SampleEncoder>();
  readonly #source: SampleSource;

  constructor(services: OutputServices) {
    this.#services = services;
    this.#source = { rule: services.uprobes.profile.userCallchains } as SampleSource;
  }

  /** Nanoseconds of the clock that samples show, whichever clockid was asked for. */
  readonly now = (): bigint => this.#services.now();

  /** perf_event_overflow: one sample, to the ring and to who listens besides. */
  sample(event: PerfEvent, record: EventRecord): void {
    const { ring, listener } = event;
    if (ring === null && listener === null) return;
    this.#describe(event, record);
    const bytes = this.#encoderOf(event).encode(this.#writer, this.#source);
    listener?.(bytes, record);
    if (ring === null) return;
    if (ring.write(bytes, this.#lostRecord))
      ring.wake(event.attr.flags.has('watermark') ? 0 : event.attr.wakeup);
    else if (ring.shape.dataSize > 0) event.lostSamples++;
  }

  readonly #lostRecord = (lost: number): Uint8Array => encodeLost(this.#writer, this.#source, lost);

  #describe(event: PerfEvent, record: EventRecord): void {
    const source = this.#source;
    source.event = event;
    source.record = record;
    source.timeNs = this.now();
    source.period = event.period.lastPeriod;
    if ((event.attr.sampleType & Sample.CALLCHAIN) === 0) return;
    source.atPush = isAtPush(record);
    source.pending = this.#services.uprobes.pendingReturns(record.hit.task);
  }

  #encoderOf(event: PerfEvent): SampleEncoder {
    let encoder = this.#encoders.get(event);
    if (encoder === undefined) {
      encoder = new SampleEncoder(event.attr);
      this.#encoders.set(event, encoder);
    }
    return encoder;
  }
}

const firstByte = new Uint8Array(1);

/**
 * is_uprobe_at_func_entry: an entry handler runs, and the probed instruction is a `push %rbp`. (An
 * `endbr64` counts too where the kernel itself is built for it; the recorded one is not.)
 */
const isAtPush = ({ probe }: EventRecord): boolean =>
  probe.event.kind === 'entry' &&
  probe.inode.read(probe.definition.offset, firstByte) === 1 &&
  firstByte[0] === PUSH_RBP;
