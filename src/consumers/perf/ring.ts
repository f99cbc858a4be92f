/** The ring buffer of an event (perf_buffer): records in user memory, between head and tail. */
import { MMAP_CAPABILITIES, MMAP_PAGE_SIZE, MmapPage } from '../../abi/perf.ts';
import { PAGE_SIZE, view } from '../../base/bytes.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { PerfEvent } from './event.ts';

/** One mapping of the ring. All show the same pages. */
export interface RingMapping {
  readonly event: PerfEvent;
  readonly mm: Mm;
  readonly address: bigint;
}

/** How a ring is made; the first mapping decides. */
export interface RingShape {
  /** Bytes of data: 0, or a power of two of pages. */
  readonly dataSize: number;
  /** Mapped without the right to write: nobody moves the tail, old records are overwritten. */
  readonly overwrite: boolean;
  readonly backward: boolean;
  /** Bytes that must be new for a wake-up; 0 = half of the ring. */
  readonly watermark: number;
}

const dataStart = PAGE_SIZE;

export class Ring {
  readonly shape: RingShape;
  #mappings: readonly RingMapping[] = [];
  readonly #watermark: number;
  readonly #word = new Uint8Array(8);
  readonly #wordView = view(this.#word);
  /** Where the next record goes; negative and falling in a backward ring. */
  head = 0;
  /** As the guest last wrote it. */
  #tail = 0n;
  /** Records that did not fit since the last one that did. */
  lost = 0;
  paused = false;
  /** Somebody is to be woken: poll(2) says so once. */
  pollable = false;
  /** Counts wake-ups; grows by the watermark or by one. */
  #wakeup = 0;
  /** Samples since the last wake-up by `wakeup_events`. */
  #events = 0;

  constructor(shape: RingShape) {
    this.shape = shape;
    const { watermark, dataSize } = shape;
    this.#watermark = Math.min(dataSize, watermark) || dataSize / 2;
  }

  get size(): bigint {
    return PAGE_SIZE + BigInt(this.shape.dataSize);
  }

  get mappings(): readonly RingMapping[] {
    return this.#mappings;
  }

  /** A new mapping, whose pages are still empty, shows what the others show. */
  map(mapping: RingMapping): void {
    const bytes = new Uint8Array(Number(this.size));
    const [other] = this.#mappings;
    if (other !== undefined) other.mm.engine.peek(other.address, bytes);
    else this.#initialise(view(bytes));
    mapping.mm.engine.poke(mapping.address, bytes);
    this.#mappings = [...this.#mappings, mapping];
  }

  /** Whether the event has a mapping of its own, not only another's ring. */
  isMappedBy(event: PerfEvent): boolean {
    return this.#mappings.some((mapping) => mapping.event === event);
  }

  unmap(mapping: RingMapping): void {
    this.#mappings = this.#mappings.filter((other) => other !== mapping);
  }

  /**
   * perf_output_begin and perf_output_end: whether there is room, and the writing.
   * @param lostRecord made only when records were lost before and there is room now
   */
  write(record: Uint8Array, lostRecord: (lost: number) => Uint8Array): boolean {
    if (this.shape.dataSize === 0) return false;
    // A copy: making the other record overwrites the one buffer there is.
    const whole =
      this.lost > 0 && !this.paused ? joined(record.slice(), lostRecord(this.lost)) : record;
    if (this.paused || !this.#hasRoom(whole.length)) {
      this.lost++;
      return false;
    }
    if (whole !== record) this.lost = 0;
    if (this.shape.backward) this.head -= whole.length;
    const start = this.head;
    if (!this.shape.backward) this.head += whole.length;
    this.#store(start, whole);
    this.#putWord(MmapPage.dataHead, BigInt(this.head));
    return true;
  }

  /** Whether a record that was just written wakes somebody. @param wakeupEvents 0 = by bytes alone */
  wake(wakeupEvents: number): boolean {
    const before = this.#wakeup;
    if (Math.abs(this.head) - this.#wakeup > this.#watermark) this.#wakeup += this.#watermark;
    if (wakeupEvents > 0 && ++this.#events >= wakeupEvents) {
      this.#events -= wakeupEvents;
      this.#wakeup++;
    }
    if (this.#wakeup === before) return false;
    this.pollable = true;
    return true;
  }

  /** perf_event_update_userpage: under a sequence count that is even again afterwards. */
  updatePage(count: number, enabled: bigint, running: bigint): void {
    this.#putWord(MmapPage.offset, BigInt(count));
    this.#putWord(MmapPage.timeEnabled, enabled);
    this.#putWord(MmapPage.timeRunning, running);
  }

  capture(): unknown {
    const { head, lost, paused, pollable } = this;
    const own = { tail: this.#tail, wakeup: this.#wakeup, events: this.#events };
    return { fields: { head, lost, paused, pollable }, own, mappings: this.#mappings };
  }

  restore(state: unknown): void {
    const { fields, own, mappings } = state as {
      fields: Pick<Ring, 'head' | 'lost' | 'paused' | 'pollable'>;
      own: { tail: bigint; wakeup: number; events: number };
      mappings: readonly RingMapping[];
    };
    Object.assign(this, fields);
    this.#tail = own.tail;
    this.#wakeup = own.wakeup;
    this.#events = own.events;
    this.#mappings = mappings;
  }

  #initialise(page: DataView): void {
    page.setBigUint64(MmapPage.capabilities, MMAP_CAPABILITIES, true);
    page.setUint32(MmapPage.size, MMAP_PAGE_SIZE, true);
    page.setBigUint64(MmapPage.dataOffset, dataStart, true);
    page.setBigUint64(MmapPage.dataSize, BigInt(this.shape.dataSize), true);
  }

  /** CIRC_SPACE: one byte always stays free. */
  #hasRoom(size: number): boolean {
    const { overwrite, backward, dataSize } = this.shape;
    if (overwrite) return true;
    const head = BigInt(this.head);
    const tail = this.#readTail();
    const free = backward ? head - tail - 1n : tail - head - 1n;
    return Number(free & BigInt(dataSize - 1)) >= size;
  }

  /** The guest may write the tail through any mapping: the one that changed counts. */
  #readTail(): bigint {
    let changed: bigint | null = null;
    for (const { mm, address } of this.#mappings) {
      mm.engine.peek(address + BigInt(MmapPage.dataTail), this.#word);
      const value = this.#wordView.getBigUint64(0, true);
      if (value !== this.#tail) changed = value;
    }
    if (changed === null) return this.#tail;
    this.#tail = changed;
    if (this.#mappings.length > 1) this.#putWord(MmapPage.dataTail, changed);
    return changed;
  }

  #store(start: number, bytes: Uint8Array): void {
    const { dataSize } = this.shape;
    for (let done = 0; done < bytes.length; ) {
      const at = (((start + done) % dataSize) + dataSize) % dataSize;
      const part = bytes.subarray(done, done + dataSize - at);
      for (const { mm, address } of this.#mappings)
        mm.engine.poke(address + dataStart + BigInt(at), part);
      done += part.length;
    }
  }

  #putWord(at: number, value: bigint): void {
    this.#wordView.setBigUint64(0, BigInt.asUintN(64, value), true);
    for (const { mm, address } of this.#mappings) mm.engine.poke(address + BigInt(at), this.#word);
  }
}

const joined = (record: Uint8Array, before: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(before.length + record.length);
  whole.set(before);
  whole.set(record, before.length);
  return whole;
};
