import { describe, expect, it } from 'vitest';
import { callbackConsumer } from '../../src/consumers/callback/index.ts';
import {
  type BoundDefinition,
  bindDefinition,
  parseDefinition,
} from '../../src/consumers/event/definition.ts';
import { eventContext } from '../../src/consumers/event/event.ts';
import type { TraceRecord } from '../../src/consumers/event/record.ts';
import { TraceEvents } from '../../src/consumers/tracefs/events.ts';
import { TraceArray } from '../../src/consumers/tracefs/trace-array.ts';
import { Prot, Reg } from '../../src/cpu/engine.ts';
import type { Task } from '../../src/kernel/task.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { HandlerResult, type Hit } from '../../src/uprobes/index.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';
import { registrar } from './registrar.ts';

const PAGE = 0x10000n;

const makeHit = (): Hit => {
  const engine = new FakeEngine();
  const space = new AddressSpace(engine);
  space.map({ address: PAGE, placement: 'replace', size: 4096n, prot: Prot.Read | Prot.Write });
  engine.regs.write(Reg.Rax, 42n);
  engine.regs.write(Reg.Rip, 0x401000n);
  const task = { tid: 8, tgid: 7, comm: 'demo', mm: { space }, regs: engine.regs };
  return {
    task: task as unknown as Task,
    regs: engine.regs,
    site: 0x401000n,
    via: 'int3',
    cookie: null,
  };
};

const bound = (line: string): BoundDefinition => {
  const result = parseDefinition(line);
  if (!result.ok) throw new Error(line);
  return bindDefinition(result.definition, '/demo', 0x1000n);
};

const define = (line: string, wantsRegisters: boolean | null) => {
  const records: TraceRecord[] = [];
  const sink =
    wantsRegisters === null
      ? null
      : { wantsRegisters, emit: (record: TraceRecord) => void records.push(record) };
  const uprobes = registrar();
  const context = eventContext(uprobes);
  const added = new TraceEvents(context).add(bound(line), memoryInode('/demo', new Uint8Array()));
  if (!added.ok) throw new Error(line);
  const { probe } = added;
  const array = new TraceArray(() => 5n);
  array.sink = sink;
  array.on = sink !== null;
  expect(array.file(probe.event).enable()).toBeNull();
  return { records, context, probe, consumer: uprobes.consumers[0]! };
};

describe('a tracefs probe', () => {
  it('makes one record a hit and evaluates once', () => {
    const { records, context, probe, consumer } = define('p:e /demo:0x1000 %ax b=%ax:u8', true);
    expect(consumer.entry?.(makeHit())).toBe(HandlerResult.Continue);
    expect(consumer.return).toBeUndefined();
    expect(context.record.builds).toBe(1);
    expect(probe.hits).toBe(1);
    expect(records).toMatchObject([
      { timeNs: 5n, tgid: 7, tid: 8, comm: 'demo', event: 'e', ip: 0x401000n, func: null },
    ]);
    expect(records[0]?.args.map(({ name, text }) => `${name}=${text}`)).toEqual([
      'arg1=0x2a',
      'b=42',
    ]);
    expect(records[0]?.regs?.ax).toBe(42n);
    expect(Object.keys(records[0]?.regs ?? {})).toHaveLength(18);
  });

  it('evaluates nothing when nobody wants the record', () => {
    const { context, probe, consumer } = define('p:e /demo:0x1000 +0(%ax):string', null);
    consumer.entry?.(makeHit());
    expect(context.record.builds).toBe(0);
    expect(probe.hits).toBe(1);
  });

  it('counts a return probe at entry and records at return', () => {
    const { records, probe, consumer } = define('r:e /demo:0x1000 $retval', false);
    const hit = makeHit();
    consumer.entry?.(hit);
    expect(records).toEqual([]);
    hit.regs.write(Reg.Rip, 0x400123n);
    consumer.return?.(hit);
    expect(probe.hits).toBe(1);
    expect(records).toMatchObject([{ ip: 0x400123n, func: 0x401000n, kind: 'return', regs: null }]);
  });

  // The kernel leaves stale bytes in an integer's place; we promise zeros.
  it('reads zero behind an unreadable pointer', () => {
    const { records, consumer } = define(
      'p:e /demo:0x1000 +0(+0(%ax)) +0(+0(%ax)):u8[3] +0(+0(%ax)):string +0(%ax):string[2]',
      false,
    );
    consumer.entry?.(makeHit());
    expect(records[0]?.args.map(({ text }) => text)).toEqual([
      '0x0',
      '{0,0,0}',
      '(fault)',
      '{(fault),(fault)}',
    ]);
  });
});

describe('a function consumer', () => {
  it('has only the handlers it was given, and continues when told nothing', () => {
    let seen = 0;
    const consumer = callbackConsumer({
      entry: () => {
        seen++;
        return undefined;
      },
    });
    expect(consumer.entry?.(makeHit())).toBe(HandlerResult.Continue);
    expect(seen).toBe(1);
    expect(Object.keys(consumer)).toEqual(['entry']);
  });

  it('passes its answer on', () => {
    const consumer = callbackConsumer({ entry: () => HandlerResult.Remove, filter: () => false });
    expect(consumer.entry?.(makeHit())).toBe(HandlerResult.Remove);
    expect(consumer.filter?.(makeHit().task.mm)).toBe(false);
  });
});

it('a deleted event leaves its id to the next one: records have 16 bits for it', () => {
  const events = new TraceEvents(eventContext(registrar()));
  const inode = memoryInode('/demo', new Uint8Array());
  const add = (name: string) => {
    const added = events.add(bound(`p:${name} /demo:0`), inode);
    if (!added.ok) throw new Error(name);
    return added.probe;
  };
  const [first, second] = [add('a'), add('b')];
  expect(second.event.id).toBe(first.event.id + 1);
  for (let i = 0; i < 70_000; i++) events.remove(add('c'));
  expect(add('d').event.id).toBe(first.event.id + 2);
  events.remove(first);
  expect(add('e').event.id).toBe(first.event.id);
});
