import { type ErrnoName, errnoNumber } from '../abi/errno.ts';
import {
  ATTR_SIZE,
  AttrAt,
  AttrFlag,
  type PerfRegister,
  PerfRegs,
  Sample,
  type SampleName,
} from '../abi/perf.ts';
import { TraplineError } from '../base/errors.ts';
import { bindDefinition, parseDefinition } from '../consumers/event/definition.ts';
import { type EventContext, LOCAL_ID, ProbeEvent } from '../consumers/event/event.ts';
import { faultError } from '../consumers/event/fault.ts';
import { recordArgs } from '../consumers/event/value.ts';
import {
  attrOf,
  checkPeriod,
  decodeSample,
  type Perf,
  type PerfAttr,
  type PerfEvent,
  type PerfProgram,
  type PerfSample,
} from '../consumers/perf/index.ts';
import type { Attacher } from './attach.ts';
import { type Link, makeLink } from './link.ts';
import type { Locator, Place } from './locate.ts';

/** What an event counts and samples; the fields of perf_event_attr that a host needs. */
export interface PerfEventOptions {
  /** Only this thread, by its id. Default: every one. */
  readonly pid?: number;
  /** Wait for {@link PerfLink.enable}. Default: false. */
  readonly disabled?: boolean;
  /** Hits from one sample to the next. Default: 1 with `onSample`, else 0 = only count. */
  readonly samplePeriod?: bigint;
  /** What samples hold; all types the kernel has for uprobes. Default: IP, TID, TIME, CPU, PERIOD. */
  readonly sample?: readonly SampleName[];
  /** Registers of each sample. Default: none. */
  readonly registers?: readonly PerfRegister[];
  /** Bytes of stack from sp on in each sample, a multiple of 8. Default: none. */
  readonly stackBytes?: number;
  /** Call chain entries at most, 127 at most. Default: 127. */
  readonly maxStack?: number;
  /** Takes the samples. */
  readonly onSample?: (sample: PerfSample) => void;
  /** Runs first; 0 = perf does not see the hit and its arguments are not evaluated (a BPF program). */
  readonly program?: PerfProgram;
}

/** Counters of an event. */
export interface PerfReading {
  readonly count: number;
  readonly timeEnabledNs: bigint;
  readonly timeRunningNs: bigint;
}

/** The handle of a perf event. */
export interface PerfLink extends Link {
  /** As in the samples. */
  readonly id: bigint;
  read(): PerfReading;
  enable(): void;
  disable(): void;
  /** Sets the count to 0. */
  reset(): void;
}

const DEFAULT_SAMPLE: readonly SampleName[] = ['IP', 'TID', 'TIME', 'CPU', 'PERIOD'];

const bits = (numbers: readonly number[]): bigint =>
  numbers.reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n);

/** The options as the kernel would get them, judged by its rules. */
const attrFrom = (options: PerfEventOptions): PerfAttr | ErrnoName => {
  const { registers = [], stackBytes = 0, maxStack = 0, onSample } = options;
  const attr = new DataView(new ArrayBuffer(ATTR_SIZE));
  const types = (options.sample ?? DEFAULT_SAMPLE).reduce((all, name) => all | Sample[name], 0);
  const implied =
    (registers.length > 0 ? Sample.REGS_USER : 0) | (stackBytes > 0 ? Sample.STACK_USER : 0);
  const period = options.samplePeriod ?? (onSample === undefined ? 0n : 1n);
  attr.setBigUint64(AttrAt.samplePeriod, period, true);
  attr.setUint32(AttrAt.sampleType, types | implied, true);
  const flags = options.disabled === true ? bits([AttrFlag.disabled]) : 0n;
  attr.setBigUint64(AttrAt.flags, flags, true);
  const mask = bits(registers.map((name) => PerfRegs.indexOf(name)));
  attr.setBigUint64(AttrAt.sampleRegsUser, mask, true);
  attr.setUint32(AttrAt.sampleStackUser, stackBytes, true);
  attr.setUint16(AttrAt.sampleMaxStack, maxStack, true);
  const checked = attrOf(attr);
  return typeof checked === 'string' ? checked : (checkPeriod(checked) ?? checked);
};

/** perf for the host: events on places of files, their counts and samples. */
export class PerfHost {
  readonly #perf: Perf;
  readonly #context: EventContext;
  readonly #locator: Locator;
  readonly #attacher: Attacher;

  constructor(perf: Perf, context: EventContext, locator: Locator, attacher: Attacher) {
    this.#perf = perf;
    this.#context = context;
    this.#locator = locator;
    this.#attacher = attacher;
  }

  /**
   * Opens an event. Samples come inside `Machine.run`, synchronously.
   * @param text `p` or `r`, a site and arguments, as a line of `uprobe_events`
   * @throws TraplineError `bad-probe` or `bad-option` with the kernel's errno
   */
  open(text: string, options: PerfEventOptions = {}): PerfLink {
    const parsed = parseDefinition(text, { lookup: (path) => this.#locator.kindOf(path) });
    if (!parsed.ok) throw faultError(parsed.fault);
    const { definition } = parsed;
    const places = this.#locator.places(definition.site, definition.command);
    const [first, ...others] = places.map((place) => ({
      inode: place.inode,
      bound: bindDefinition(definition, place.path, place.offset, place.refCtr),
    }));
    const source = new ProbeEvent(this.#context, LOCAL_ID, first!.bound, first!.inode);
    for (const { bound, inode } of others) source.append(bound, inode);
    const event = this.#open(source, options, places[0]!, definition.command);
    const { onSample, program } = options;
    event.program = program ?? null;
    if (onSample !== undefined) listen(event, onSample);
    return linkOf(event, places, () => this.#perf.close(event));
  }

  #open(source: ProbeEvent, options: PerfEventOptions, place: Place, command: string): PerfEvent {
    const attr = attrFrom(options);
    if (typeof attr === 'string') throw badOption(command, attr);
    const task = options.pid === undefined ? null : this.#perf.taskOf(options.pid);
    if (task === undefined) throw badOption(command, 'ESRCH');
    const cpu = task === null ? 0 : -1;
    let asked = false;
    const event = this.#perf.open(attr, { task, cpu }, () => {
      asked = true;
      return source;
    });
    if (typeof event !== 'string') return event;
    throw asked ? this.#attacher.refusal(event, place, command) : badOption(command, event);
  }
}

const badOption = (command: string, errno: ErrnoName): TraplineError =>
  new TraplineError(
    'bad-option',
    `perf event "${command}": the kernel refuses these options (${errno}, errno ${errnoNumber(errno)})`,
    { errno },
  );

const listen = (event: PerfEvent, onSample: (sample: PerfSample) => void): void => {
  event.listener = (bytes, record) =>
    onSample(decodeSample(event.attr, bytes, recordArgs(record.probe.layout, record)));
};

const linkOf = (event: PerfEvent, places: readonly Place[], close: () => void): PerfLink => ({
  ...makeLink(places, close),
  id: event.id,
  read: () => ({
    count: event.count,
    timeEnabledNs: event.times.enabled,
    timeRunningNs: event.times.running,
  }),
  enable: () => event.enable(),
  disable: () => event.disable(),
  reset: () => event.reset(),
});
