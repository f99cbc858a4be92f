/** The perf events of one machine. */
import type { ErrnoName } from '../../abi/errno.ts';
import { PAGE_SIZE } from '../../base/bytes.ts';
import type { KernelServices } from '../../kernel/kernel.ts';
import type { Mm } from '../../kernel/mm.ts';
import { Resource } from '../../kernel/process-settings.ts';
import type { Task } from '../../kernel/task.ts';
import type { Uprobes } from '../../uprobes/index.ts';
import type { EventContext, ProbeEvent } from '../event/event.ts';
import type { PerfAttr } from './attr.ts';
import { checkAfterKind, checkBeforeKind, checkKind } from './check.ts';
import { PerfEvent, type PerfTarget, type RecordFilter } from './event.ts';
import { type FileServices, PerfFile } from './file.ts';
import { SampleOutput } from './output.ts';
import type { Ring, RingMapping } from './ring.ts';
import { PerfUser } from './user.ts';

/** 516 KiB: the kernel's default, for the one CPU there is. */
const RING_PAGES = 129n;

/** What perf needs of the machine. */
export interface PerfOptions {
  readonly kernel: KernelServices;
  readonly uprobes: Pick<Uprobes, 'profile' | 'pendingReturns'>;
  readonly context: EventContext;
  /** The tracefs event of an id. */
  readonly eventById: (id: number) => ProbeEvent | undefined;
  /** A filter expression on the fields of an event. */
  readonly parseFilter: (text: string, event: ProbeEvent) => RecordFilter | ErrnoName;
}

interface Captured {
  readonly nextId: bigint;
  readonly events: readonly (readonly [PerfEvent, unknown])[];
  readonly users: readonly (readonly [PerfUser, unknown])[];
  readonly files: ReadonlyMap<PerfEvent, PerfFile>;
}

export class Perf implements FileServices {
  readonly context: EventContext;
  readonly #kernel: KernelServices;
  readonly #output: SampleOutput;
  readonly #eventById: PerfOptions['eventById'];
  readonly parseFilter: PerfOptions['parseFilter'];
  readonly #noted = new Set<string>();
  #users = new WeakMap<ProbeEvent, PerfUser>();
  #events: readonly PerfEvent[] = [];
  #files = new Map<PerfEvent, PerfFile>();
  #nextId = 1n;

  constructor({ kernel, uprobes, context, eventById, parseFilter }: PerfOptions) {
    this.context = context;
    this.#kernel = kernel;
    this.#eventById = eventById;
    this.parseFilter = parseFilter;
    this.#output = new SampleOutput({ uprobes, now: () => kernel.now() });
    kernel.subscribe({
      vmaUnmapping: (mm, start, end) => this.#unmapping(mm, start, end),
      fork: (parent, child, sharedMm) => this.#fork(parent, child, sharedMm),
      exec: (task) => this.#exec(task),
      exit: (task) => this.#exit(task),
    });
  }

  /** Tasks of the machine, by thread id. */
  taskOf(tid: number): Task | undefined {
    return this.#kernel.tasks().find((task) => task.tid === tid);
  }

  /** The event behind a tracepoint's id. */
  eventById(id: bigint): ProbeEvent | undefined {
    return id <= 0xffffn ? this.#eventById(Number(id)) : undefined;
  }

  /**
   * A new event (perf_event_alloc), counting at once unless its attribute says otherwise.
   * @param findSource asked once the attribute itself has passed
   */
  open(
    attr: PerfAttr,
    target: PerfTarget,
    findSource: () => ProbeEvent | ErrnoName,
  ): PerfEvent | ErrnoName {
    const early = checkBeforeKind(attr, target);
    if (early !== null) return early;
    const kind = checkKind(attr, target);
    if (kind !== null) return kind;
    const source = findSource();
    if (typeof source === 'string') return source;
    const user = this.#userOf(source);
    const { task } = target;
    const now = () => (task === null ? this.#kernel.now() : BigInt(this.#kernel.instructions()));
    const event = new PerfEvent(this.#nextId++, attr, target, user, this.#output, now);
    const refusal = user.open(event);
    if (refusal !== null) return refusal;
    this.#events = [...this.#events, event];
    const late = checkAfterKind(attr, target);
    if (late !== null) this.close(event);
    return late ?? event;
  }

  /** The end of an event. A second call does nothing. */
  close(event: PerfEvent): void {
    if (!this.#events.includes(event)) return;
    this.#events = this.#events.filter((other) => other !== event);
    this.#files.delete(event);
    event.disable();
    event.leaveGroup();
    event.source.close(event);
    event.ring = null;
  }

  /** The file a descriptor of the event refers to. */
  fileOf(event: PerfEvent): PerfFile {
    const file = new PerfFile(event, this);
    this.#files.set(event, file);
    return file;
  }

  eventAt(task: Task, fd: bigint): PerfEvent | undefined {
    const file = task.files.get(Number(BigInt.asIntN(32, fd)))?.file;
    return file instanceof PerfFile ? file.event : undefined;
  }

  note(text: string): void {
    if (this.#noted.has(text)) return;
    this.#noted.add(text);
    this.#kernel.log(text);
  }

  /**
   * A user's rings may take kernel.perf_event_mlock_kb of each CPU, and then what RLIMIT_MEMLOCK of
   * the process leaves.
   */
  mayKeep({ group }: Task, size: bigint): boolean {
    const limit = group.settings.limits[Resource.MEMLOCK]?.soft ?? 0n;
    let pages = size / PAGE_SIZE;
    for (const ring of this.#rings()) pages += ring.size / PAGE_SIZE;
    return pages <= RING_PAGES + limit / PAGE_SIZE;
  }

  mapped(event: PerfEvent, { mm }: Task, address: bigint): void {
    event.ring?.map({ event, mm, address });
    event.updatePage();
  }

  unused(event: PerfEvent): void {
    this.close(event);
  }

  capture(): unknown {
    const users = [...new Set(this.#events.map(({ source }) => source))];
    return {
      nextId: this.#nextId,
      events: this.#events.map((event) => [event, event.capture()] as const),
      users: users.map((user) => [user, user.capture()] as const),
      files: new Map(this.#files),
    } satisfies Captured;
  }

  /** Preconditions: kernel and uprobes are restored to the same moment. */
  restore(state: unknown): void {
    const { nextId, events, users, files } = state as Captured;
    this.#nextId = nextId;
    this.#events = events.map(([event]) => event);
    this.#files = new Map(files);
    // Whoever is not among them had no events then.
    this.#users = new WeakMap(users.map(([user]) => [user.event, user]));
    for (const [user, inside] of users) user.restore(inside);
    for (const [event, inside] of events) event.restore(inside);
  }

  #userOf(source: ProbeEvent): PerfUser {
    const user = this.#users.get(source) ?? new PerfUser(source);
    this.#users.set(source, user);
    return user;
  }

  #rings(): ReadonlySet<Ring> {
    return new Set(this.#events.flatMap(({ ring }) => ring ?? []));
  }

  /** perf_mmap_close, for every mapping that is gone or about to go. */
  #drop(isGone: (mapping: RingMapping) => boolean): void {
    for (const ring of this.#rings())
      for (const mapping of ring.mappings) {
        if (!isGone(mapping)) continue;
        ring.unmap(mapping);
        this.#detach(ring, mapping.event);
      }
  }

  #unmapping(mm: Mm, start: bigint, end: bigint): void {
    this.#drop((one) => one.mm === mm && one.address >= start && one.address < end);
  }

  /** An address space goes with its last task, all mappings with it. */
  #dropUnused(leaving: Task | null): void {
    const tasks = this.#kernel.tasks().filter((task) => task !== leaving);
    this.#drop(({ mm }) => !tasks.some((task) => task.mm === mm));
  }

  /** Who has no mapping of its own left loses the ring; when none is left at all, everybody does. */
  #detach(ring: Ring, owner: PerfEvent): void {
    if (ring.isMappedBy(owner)) return;
    owner.ring = null;
    if (ring.mappings.length === 0)
      for (const event of this.#events) if (event.ring === ring) event.ring = null;
    this.#files.get(owner)?.settle();
  }

  #fork(parent: Task, child: Task, sharedMm: boolean): void {
    for (const event of this.#events) {
      const { flags } = event.attr;
      if (event.target.task === null || !flags.has('inherit') || !event.watches(parent)) continue;
      if (flags.has('inheritThread') && !sharedMm) continue;
      event.heirs = [...event.heirs, child];
    }
  }

  #exec(task: Task): void {
    this.#dropUnused(null);
    for (const event of this.#events) {
      if (event.target.task !== task) continue;
      if (event.attr.flags.has('enableOnExec')) event.enable();
      if (event.attr.flags.has('removeOnExec')) event.exit();
    }
  }

  #exit(task: Task): void {
    for (const event of this.#events) {
      if (event.target.task === task) event.exit();
      event.heirs = event.heirs.filter((heir) => heir !== task);
    }
    this.#dropUnused(task);
  }
}
