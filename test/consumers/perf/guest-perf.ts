/** A guest without a CPU that opens perf events by system calls; its hits are made by hand. */
import { ATTR_SIZE, AttrAt, AttrFlag, type AttrFlagName } from '../../../src/abi/perf.ts';
import { bindDefinition, parseDefinition } from '../../../src/consumers/event/definition.ts';
import { eventContext, ProbeEvent } from '../../../src/consumers/event/event.ts';
import { makePerf, type Perf } from '../../../src/consumers/perf/index.ts';
import { Reg } from '../../../src/cpu/engine.ts';
import type { Task } from '../../../src/kernel/task.ts';
import { findProfile, type Hit } from '../../../src/uprobes/index.ts';
import { memoryInode } from '../../helpers/memory-inode.ts';
import { Guest } from '../../syscalls/guest.ts';
import { registrar } from '../registrar.ts';

export const PAGE = 4096n;
/** Id of the event that is defined. */
export const EVENT_ID = 1500;
export const SITE = 0x401000n;
const TRACEPOINT = 2;
const MAP_SHARED = 1;

export interface AttrFields {
  readonly period?: bigint;
  readonly sampleType?: number;
  readonly flags?: readonly AttrFlagName[];
  readonly wakeup?: number;
}

export class GuestPerf {
  readonly guest = new Guest();
  readonly perf: Perf;
  readonly event: ProbeEvent;
  readonly #uprobes = registrar();

  /** @param args of the one event there is */
  constructor(args = '') {
    const context = eventContext(this.#uprobes);
    const parsed = parseDefinition(`p:g/e /prog:0x1000 ${args}`);
    if (!parsed.ok) throw new Error(args);
    const bound = bindDefinition(parsed.definition, '/prog', 0x1000n);
    this.event = new ProbeEvent(context, EVENT_ID, bound, memoryInode('/prog', new Uint8Array(1)));
    const { kernel, view } = this.guest;
    const uprobes = { profile: findProfile('k6.18')!, pendingReturns: () => null };
    const eventById = (id: number) => (id === EVENT_ID ? this.event : undefined);
    const parseFilter = () => 'EINVAL' as const;
    this.perf = makePerf({ kernel, uprobes, context, eventById, parseFilter }, view);
  }

  /** perf_event_open of the event, for the guest's own task. */
  open({ period = 1n, sampleType = 1, flags = [], wakeup = 0 }: AttrFields = {}): number {
    const attr = new DataView(new ArrayBuffer(ATTR_SIZE));
    attr.setUint32(AttrAt.type, TRACEPOINT, true);
    attr.setUint32(AttrAt.size, ATTR_SIZE, true);
    attr.setBigUint64(AttrAt.config, BigInt(EVENT_ID), true);
    attr.setBigUint64(AttrAt.samplePeriod, period, true);
    attr.setUint32(AttrAt.sampleType, sampleType, true);
    const word = flags.reduce((all, name) => all | (1n << BigInt(AttrFlag[name])), 0n);
    attr.setBigUint64(AttrAt.flags, word, true);
    attr.setUint32(AttrAt.wakeup, wakeup, true);
    const at = this.guest.room(new Uint8Array(attr.buffer));
    return this.guest.call('perf_event_open', at, 0, -1, -1, 0) as number;
  }

  /** Maps the ring of a descriptor with one page of data. */
  map(fd: number, prot = 3): bigint {
    return BigInt(this.guest.call('mmap', null, 2n * PAGE, prot, MAP_SHARED, fd, 0) as number);
  }

  /** A hit of the event in a task. */
  hit(task: Task = this.guest.task): void {
    const { regs } = this.guest.task;
    regs.write(Reg.Rip, SITE);
    const hit: Hit = { task, regs, site: SITE, via: 'int3', cookie: null };
    for (const consumer of [...this.#uprobes.consumers]) consumer.entry?.(hit);
  }

  count(fd: number): bigint {
    const room = this.guest.room(8);
    this.guest.call('read', fd, room, 8);
    return this.guest.u64(room);
  }
}
