/** perf on the small process of the uprobe tests, without system calls. */
import { Sample } from '../../../src/abi/perf.ts';
import { bindDefinition, parseDefinition } from '../../../src/consumers/event/definition.ts';
import { type EventContext, eventContext, ProbeEvent } from '../../../src/consumers/event/event.ts';
import { Perf, type PerfAttr, type PerfEvent } from '../../../src/consumers/perf/index.ts';
import type { Task } from '../../../src/kernel/task.ts';
import { type Rig, TEXT } from '../../uprobes/rig.ts';

/** An attribute in which everything else is 0. */
export const attr = (fields: Partial<PerfAttr> = {}): PerfAttr => ({
  type: 8,
  config: 0n,
  config1: 0n,
  config2: 0n,
  samplePeriod: 0n,
  sampleType: Sample.IP,
  readFormat: 0,
  flags: new Set(),
  wakeup: 0,
  regsUser: 0n,
  regsIntr: 0n,
  stackUser: 0,
  maxStack: 127,
  clockid: 0,
  auxSampleSize: 0,
  auxAction: 0,
  ...fields,
});

export class PerfRig {
  readonly rig: Rig;
  readonly context: EventContext;
  readonly perf: Perf;
  #nextId = 1500;

  constructor(rig: Rig) {
    this.rig = rig;
    this.context = eventContext(rig.uprobes);
    const { kernel, uprobes } = rig;
    this.perf = new Perf({
      kernel,
      uprobes,
      context: this.context,
      eventById: () => undefined,
      parseFilter: () => 'EINVAL',
    });
  }

  /** Times the arguments of a hit were evaluated. */
  get builds(): number {
    return this.context.record.builds;
  }

  /** An event at an address, with arguments. @param letter `p` or `r` */
  define(letter: string, address: bigint, args = ''): ProbeEvent {
    const offset = address - TEXT;
    const parsed = parseDefinition(`${letter}:g/e /text:0x${offset.toString(16)} ${args}`);
    if (!parsed.ok) throw new Error(args);
    const bound = bindDefinition(parsed.definition, '/text', offset);
    return new ProbeEvent(this.context, this.#nextId++, bound, this.rig.file);
  }

  /** Opens a perf event on it. @param task null = every task */
  open(event: ProbeEvent, fields: Partial<PerfAttr> = {}, task: Task | null = null): PerfEvent {
    const opened = this.perf.open(attr(fields), { task, cpu: task === null ? 0 : -1 }, () => event);
    if (typeof opened === 'string') throw new Error(opened);
    return opened;
  }
}
