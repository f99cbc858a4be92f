import { Sample } from '../../abi/perf.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Task } from '../../kernel/task.ts';
import type { Hit } from '../../uprobes/index.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { PerfAttr } from './attr.ts';
import type { SampleOutput } from './output.ts';
import { SamplePeriod } from './period.ts';
import type { Ring } from './ring.ts';
import { EventTimes } from './times.ts';
import type { PerfUser } from './user.ts';

/** `off` until enabled; `exit` once its task has ended. */
export type PerfState = 'off' | 'on' | 'exit';

/** Runs before a hit's arguments are evaluated; 0 keeps perf from seeing the hit (a BPF program). */
export type PerfProgram = (hit: Hit) => number;

/** @param bytes the PERF_RECORD_SAMPLE; valid during the call, like `record` */
export type SampleListener = (bytes: Uint8Array, record: EventRecord) => void;

/** Whether a hit's record is one of those asked for. */
export type RecordFilter = (record: EventRecord) => boolean;

/** What an event is opened with. */
export interface PerfTarget {
  /** Null = every task. */
  readonly task: Task | null;
  /** -1 = every CPU. */
  readonly cpu: number;
}

/** perf_event: one counter with what it samples. */
export class PerfEvent {
  readonly id: bigint;
  readonly attr: PerfAttr;
  readonly target: PerfTarget;
  /** The probe's event that it listens to. */
  readonly source: PerfUser;
  readonly period: SamplePeriod;
  readonly times: EventTimes;
  readonly #output: SampleOutput;
  /** Tasks that it was inherited by. */
  heirs: readonly Task[] = [];
  leader: PerfEvent = this;
  /** Of a leader: the rest of its group. */
  siblings: readonly PerfEvent[] = [];
  /** Where samples go; its own ring or another event's. */
  ring: Ring | null = null;
  count = 0;
  /** Samples that found no room. */
  lostSamples = 0;
  /** Samples left before it turns itself off (PERF_EVENT_IOC_REFRESH); 0 = no limit. */
  eventLimit = 0;
  /** PERF_EVENT_IOC_SET_FILTER: what does not pass is not counted either. */
  filter: RecordFilter | null = null;
  /** Attached by PERF_EVENT_IOC_SET_BPF, or a host's function in its place. */
  program: PerfProgram | null = null;
  /** Takes every sample, besides the ring: a host that reads along. */
  listener: SampleListener | null = null;
  #state: PerfState;

  constructor(
    id: bigint,
    attr: PerfAttr,
    target: PerfTarget,
    source: PerfUser,
    output: SampleOutput,
    now: () => bigint,
  ) {
    this.id = id;
    this.attr = attr;
    this.target = target;
    this.source = source;
    this.#output = output;
    this.period = new SamplePeriod(attr, (attr.sampleType & Sample.PERIOD) !== 0);
    this.times = new EventTimes(now);
    // enable_on_exec waits for exec even where `disabled` is not set.
    this.#state = attr.flags.has('disabled') || attr.flags.has('enableOnExec') ? 'off' : 'on';
    if (this.#state === 'on') this.times.start();
  }

  /** The clock it asked for; null = the default one. */
  get clockid(): number | null {
    return this.attr.flags.has('useClockid') ? this.attr.clockid : null;
  }

  get state(): PerfState {
    return this.#state;
  }

  /** A sibling of a leader that is off does not count either. */
  get isActive(): boolean {
    return this.#state === 'on' && this.leader.#state === 'on';
  }

  enable(): void {
    if (this.#state === 'off') this.#setState('on');
  }

  disable(): void {
    if (this.#state === 'on') this.#setState('off');
  }

  /** Its task has ended. */
  exit(): void {
    this.#setState('exit');
  }

  reset(): void {
    this.count = 0;
    this.updatePage();
  }

  /** Joins a group. Preconditions: `leader` is one. */
  joinGroup(leader: PerfEvent): void {
    this.leader = leader;
    leader.siblings = [...leader.siblings, this];
    this.#settleTimes();
  }

  /** perf_group_detach: the siblings of a leader that goes are on their own. */
  leaveGroup(): void {
    const { leader } = this;
    leader.siblings = leader.siblings.filter((other) => other !== this);
    for (const sibling of this.siblings) {
      sibling.leader = sibling;
      sibling.#settleTimes();
    }
    this.siblings = [];
    this.leader = this;
  }

  /** Whether the task is the one it watches, or has inherited it. */
  watches(task: Task): boolean {
    const { target, heirs } = this;
    return target.task === null || target.task === task || heirs.includes(task);
  }

  /** Whether a task that it watches lives there. */
  watchesMm(mm: Mm): boolean {
    const { target, heirs } = this;
    if (target.task === null || target.task.mm === mm) return true;
    for (const heir of heirs) if (heir.mm === mm) return true;
    return false;
  }

  /** perf_swevent_event: one hit of its probe, in a task it watches. */
  hit(record: EventRecord): void {
    if (!this.isActive || this.target.cpu > 0 || !this.watches(record.hit.task)) return;
    if (this.filter !== null && !this.filter(record)) return;
    this.count++;
    if (!this.period.isSampling || !this.period.hit(this.#output.now)) return;
    const isLast = this.eventLimit > 0 && --this.eventLimit === 0;
    this.#output.sample(this, record);
    if (isLast) this.disable();
  }

  /** What its header page says of it. */
  updatePage(): void {
    const { enabled, running } = this.times;
    this.ring?.updatePage(this.count, enabled, running);
  }

  capture(): unknown {
    const { heirs, leader, siblings, ring, count, lostSamples, eventLimit, filter } = this;
    return {
      fields: { heirs, leader, siblings, ring, count, lostSamples, eventLimit, filter },
      state: this.#state,
      period: this.period.capture(),
      times: this.times.capture(),
      ring: ring?.capture(),
    };
  }

  restore(state: unknown): void {
    const saved = state as {
      fields: Partial<PerfEvent>;
      state: PerfState;
      period: readonly bigint[];
      times: readonly [bigint, bigint | null];
      ring: unknown;
    };
    Object.assign(this, saved.fields);
    this.#state = saved.state;
    this.period.restore(saved.period);
    this.times.restore(saved.times);
    this.ring?.restore(saved.ring);
  }

  #setState(state: PerfState): void {
    this.#state = state;
    for (const one of [this, ...this.siblings]) one.#settleTimes();
    this.updatePage();
  }

  #settleTimes(): void {
    if (this.isActive) this.times.start();
    else this.times.stop();
  }
}
