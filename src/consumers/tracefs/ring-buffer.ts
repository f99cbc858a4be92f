import type { Via } from '../../uprobes/index.ts';
import type { EventRecord } from '../event/event-record.ts';

/** Bytes of records in one page of the kernel's ring buffer. */
const PAGE_ROOM = 4080;
/** Pages of a buffer nobody has resized: 1,408 KiB. */
const DEFAULT_PAGES = 354;

/** What we keep in front of a record: length, tid, tgid, name, way, time. */
const HEADER = 28;
/** The shortest record takes 20 bytes of a kernel's page and 44 of ours. */
const OUR_PAGE = Math.ceil((PAGE_ROOM / 20) * (16 + HEADER)) + 4096;

const VIAS: readonly Via[] = ['int3', 'uprobe-syscall', 'uretprobe-int3', 'uretprobe-syscall'];

/** Bytes a record takes in the kernel's page: its header has 4 more bytes when it is long. */
const kernelSize = (size: number): number => ((size + 3) & ~3) + (size > 112 ? 8 : 4);

interface Page {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Bytes of ours in use. */
  end: number;
  /** Where the next unread record is. */
  start: number;
  /** Bytes of the kernel's page in use. */
  used: number;
  records: number;
}

/** A record in the buffer, as the reader sees it: overwritten by the next one. */
export interface StoredRecord {
  /** The record alone, from its common fields on. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly timeNs: bigint;
  readonly tid: number;
  readonly tgid: number;
  readonly comm: string;
  readonly via: Via;
}

/** Records in the order they came; when it is full the oldest page of them goes. */
export class RingBuffer {
  /** Records that were overwritten unread. */
  overrun = 0;
  /** Those of them that {@link takeLost} has not told of. */
  #lost = 0;
  /** Records that are in it. */
  entries = 0;
  #pages: Page[] = [];
  readonly #spare: Page[] = [];
  #comms: string[] = [];
  readonly #commIndex = new Map<string, number>();
  #limit = DEFAULT_PAGES;

  /** As `buffer_size_kb` shows it. */
  get kilobytes(): number {
    return Math.floor((this.#limit * PAGE_ROOM) / 1024);
  }

  /** Empties it too. */
  resize(kilobytes: number): void {
    this.#limit = Math.max(2, Math.ceil((kilobytes * 1024) / PAGE_ROOM));
    this.#spare.length = 0;
    this.clear();
  }

  clear(): void {
    this.#spare.push(...this.#pages.splice(0));
    this.overrun = 0;
    this.#lost = 0;
    this.entries = 0;
  }

  /** Keeps a copy. Preconditions: the record is built. */
  push(record: EventRecord, timeNs: bigint): void {
    const { hit, bytes, size } = record;
    const { task } = hit;
    const page = this.#pageFor(kernelSize(size));
    const at = page.end;
    const { view } = page;
    view.setUint32(at, size, true);
    view.setInt32(at + 4, task.tid, true);
    view.setInt32(at + 8, task.tgid, true);
    view.setUint32(at + 12, this.#internComm(task.comm), true);
    view.setUint32(at + 16, VIAS.indexOf(hit.via), true);
    view.setBigUint64(at + 20, timeNs, true);
    // Short ones are copied faster by hand than through a view of them.
    if (size > 128) page.bytes.set(bytes.subarray(0, size), at + HEADER);
    else for (let i = 0; i < size; i++) page.bytes[at + HEADER + i] = bytes[i]!;
    page.end = at + HEADER + size;
    page.used += kernelSize(size);
    page.records++;
    this.entries++;
  }

  /** All records, oldest first. */
  *[Symbol.iterator](): Generator<StoredRecord> {
    for (const page of this.#pages)
      for (let at = page.start; at < page.end; at += HEADER + page.view.getUint32(at, true))
        yield this.#recordAt(page, at);
  }

  /** Takes the oldest record out. */
  shift(): StoredRecord | undefined {
    const [page] = this.#pages;
    if (page === undefined) return undefined;
    const at = page.start;
    const record = this.#recordAt(page, at);
    page.start = at + HEADER + page.view.getUint32(at, true);
    page.records--;
    this.entries--;
    // The bytes stay as they are until the page is used again.
    if (page.start === page.end) this.#spare.push(this.#pages.shift()!);
    return record;
  }

  /** How many records were overwritten since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  capture(): unknown {
    const { overrun, entries } = this;
    const lost = this.#lost;
    const limit = this.#limit;
    const pages = this.#pages.map((page) => ({ ...page, bytes: page.bytes.slice(0, page.end) }));
    return { overrun, lost, entries, limit, pages, comms: [...this.#comms] };
  }

  /** Preconditions: `state` is from {@link capture} of this object. */
  restore(state: unknown): void {
    const saved = state as {
      overrun: number;
      lost: number;
      entries: number;
      limit: number;
      pages: Page[];
      comms: string[];
    };
    this.clear();
    this.overrun = saved.overrun;
    this.#lost = saved.lost;
    this.entries = saved.entries;
    this.#limit = saved.limit;
    this.#comms = [...saved.comms];
    this.#commIndex.clear();
    for (const [index, comm] of this.#comms.entries()) this.#commIndex.set(comm, index);
    this.#pages = saved.pages.map(({ bytes, end, start, used, records }) => {
      const page = this.#freshPage();
      page.bytes.set(bytes);
      return Object.assign(page, { end, start, used, records });
    });
  }

  #internComm(comm: string): number {
    let index = this.#commIndex.get(comm);
    if (index === undefined) {
      index = this.#comms.push(comm) - 1;
      this.#commIndex.set(comm, index);
    }
    return index;
  }

  #pageFor(size: number): Page {
    const last = this.#pages.at(-1);
    if (last !== undefined && last.used + size <= PAGE_ROOM) return last;
    if (this.#pages.length >= this.#limit) this.#dropOldest();
    const page = this.#freshPage();
    this.#pages.push(page);
    return page;
  }

  /** An empty page, one that was used before if there is any. */
  #freshPage(): Page {
    const page = this.#spare.pop() ?? newPage();
    return Object.assign(page, { end: 0, start: 0, used: 0, records: 0 });
  }

  #dropOldest(): void {
    const page = this.#pages.shift()!;
    this.overrun += page.records;
    this.#lost += page.records;
    this.entries -= page.records;
    this.#spare.push(page);
  }

  #recordAt({ bytes, view }: Page, at: number): StoredRecord {
    const size = view.getUint32(at, true);
    const start = at + HEADER;
    return {
      bytes: bytes.subarray(start, start + size),
      view: new DataView(bytes.buffer, start, size),
      tid: view.getInt32(at + 4, true),
      tgid: view.getInt32(at + 8, true),
      comm: this.#comms[view.getUint32(at + 12, true)]!,
      via: VIAS[view.getUint32(at + 16, true)]!,
      timeNs: view.getBigUint64(at + 20, true),
    };
  }
}

const newPage = (): Page => {
  const bytes = new Uint8Array(OUR_PAGE);
  return { bytes, view: new DataView(bytes.buffer), end: 0, start: 0, used: 0, records: 0 };
};
