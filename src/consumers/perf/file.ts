/** The file behind a descriptor of perf_event_open(2) (perf_fops). */
import type { ErrnoName } from '../../abi/errno.ts';
import { PAGE_SIZE, view } from '../../base/bytes.ts';
import { kernelAttributes } from '../../kernel/files/file-attributes.ts';
import type { FilePages, OpenFile, PagesRequest, Readiness } from '../../kernel/files/open-file.ts';
import type { Attributes } from '../../kernel/files/tree.ts';
import type { Task } from '../../kernel/task.ts';
import type { SpecialMapping } from '../../memory/backing.ts';
import type { PerfEvent } from './event.ts';
import { type IoctlServices, perfIoctl } from './ioctl.ts';
import { Ring } from './ring.ts';
import { readValues } from './values.ts';

const NAME = 'anon_inode:[perf_event]';
const ANON_INODE_DEVICE = { major: 0, minor: 15 };

const RING_MAPPING: SpecialMapping = { name: NAME, copiedOnFork: false, indivisible: true };

/** What the file needs of the rest of perf. */
export interface FileServices extends IoctlServices {
  /** Whether one more ring of so many bytes may be kept in memory. */
  mayKeep(task: Task, size: bigint): boolean;
  /** A mapping of its ring was made. */
  mapped(event: PerfEvent, task: Task, address: bigint): void;
  /** Neither a descriptor nor a mapping leads to the event any more. */
  unused(event: PerfEvent): void;
}

export class PerfFile implements OpenFile {
  readonly path = NAME;
  readonly seekable = false;
  readonly event: PerfEvent;
  readonly #services: FileServices;
  #isOpen = false;

  constructor(event: PerfEvent, services: FileServices) {
    this.event = event;
    this.#services = services;
  }

  attributes(): Attributes {
    return kernelAttributes('file', 0o600, ANON_INODE_DEVICE, 1n);
  }

  /** The whole value or ENOSPC. */
  read(_position: bigint, into: Uint8Array): number | ErrnoName {
    const values = readValues(this.event);
    if (into.length < 8 * values.length) return 'ENOSPC';
    for (const [index, value] of values.entries())
      view(into).setBigUint64(8 * index, BigInt.asUintN(64, value), true);
    return 8 * values.length;
  }

  write(): ErrnoName {
    return 'EINVAL';
  }

  /** Tells the ring's wake-up once, whatever was asked for; without a ring there is only POLLHUP. */
  readiness(): Readiness {
    const { ring, state } = this.event;
    const readable = ring?.pollable === true && state !== 'exit';
    if (ring !== null) ring.pollable = false;
    return { readable, writable: false, hangup: ring === null || state === 'exit' };
  }

  size(): bigint {
    return 0n;
  }

  available(): number {
    return 8 * readValues(this.event).length;
  }

  ioctl(task: Task, request: number, arg: bigint): number | ErrnoName {
    return perfIoctl(this.#services, { event: this.event, task, arg }, request);
  }

  /** perf_mmap: a header page and a power of two of pages. */
  pages(request: PagesRequest): FilePages | ErrnoName {
    const { event } = this;
    const { size, writable, shared, offset, task } = request;
    const dataSize = size - PAGE_SIZE;
    if (event.target.cpu === -1 && event.attr.flags.has('inherit')) return 'EINVAL';
    if (!shared || offset !== 0n || (dataSize & (dataSize - 1n)) !== 0n) return 'EINVAL';
    const refusal = this.#refuses(size, task);
    if (refusal !== null) return refusal;
    const shape = {
      dataSize: Number(dataSize),
      overwrite: !writable,
      backward: event.attr.flags.has('writeBackward'),
      watermark: event.attr.flags.has('watermark') ? event.attr.wakeup : 0,
    };
    const mapped = (address: bigint): void => {
      event.ring ??= new Ring(shape);
      this.#services.mapped(event, task, address);
    };
    return { special: RING_MAPPING, mapped };
  }

  opened(): void {
    this.#isOpen = true;
  }

  closed(): void {
    this.#isOpen = false;
    this.settle();
  }

  /** The last mapping of the event's own went, or the last descriptor. */
  settle(): void {
    const { event } = this;
    const isMapped = event.ring?.isMappedBy(event) === true;
    if (!this.#isOpen && !isMapped) this.#services.unused(event);
  }

  capture(): unknown {
    return this.#isOpen;
  }

  restore(state: unknown): void {
    this.#isOpen = state as boolean;
  }

  #refuses(size: bigint, task: Task): ErrnoName | null {
    const { event } = this;
    if (event.ring === null) return this.#services.mayKeep(task, size) ? null : 'EPERM';
    if (event.ring.size !== size) return 'EINVAL';
    return event.ring.isMappedBy(event) ? null : 'EBUSY';
  }
}
