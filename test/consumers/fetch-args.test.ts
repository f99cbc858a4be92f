import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { textBytes } from '../../src/base/byte-text.ts';
import { bindDefinition, parseDefinition } from '../../src/consumers/event/definition.ts';
import { eventContext } from '../../src/consumers/event/event.ts';
import type { TraceRecord } from '../../src/consumers/event/record.ts';
import { traceBody } from '../../src/consumers/event/text.ts';
import { TraceEvents } from '../../src/consumers/tracefs/events.ts';
import { TraceArray } from '../../src/consumers/tracefs/trace-array.ts';
import { Reg, type RegisterFile } from '../../src/cpu/engine.ts';
import { loadProgram } from '../../src/elf/load.ts';
import type { Task } from '../../src/kernel/task.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import type { Hit } from '../../src/uprobes/index.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';
import { registrar } from './registrar.ts';
import {
  escapeBody,
  eventOf,
  PROGRAM,
  placed,
  readTraceCases,
  recordTrace,
  type TraceCase,
  writeTraceCases,
} from './trace-golden.ts';
import { noKernel, withTracefs } from './tracefs.ts';

const recordAll = (cases: readonly TraceCase[]): TraceCase[] => {
  const definitions = cases.map(({ definition }) => definition);
  const bodies = withTracefs((instance) => recordTrace(instance, definitions));
  return definitions.map((definition, index) => {
    // Siblings share their event: the golden has each line under its own definition.
    const event = eventOf(definition);
    const nth = definitions.slice(0, index).filter((one) => eventOf(one) === event).length;
    return { definition, lines: (bodies.get(event) ?? []).slice(nth, nth + 1) };
  });
};

if (process.env.UPDATE_GOLDENS === '1') writeTraceCases(recordAll(readTraceCases()));
const cases = readTraceCases();

const REGISTERS: Readonly<Record<string, Reg>> = {
  ax: Reg.Rax,
  bx: Reg.Rbx,
  cx: Reg.Rcx,
  dx: Reg.Rdx,
  si: Reg.Rsi,
  di: Reg.Rdi,
  bp: Reg.Rbp,
  sp: Reg.Rsp,
  ip: Reg.Rip,
  flags: Reg.Rflags,
  r8: Reg.R8,
  r9: Reg.R9,
  r10: Reg.R10,
  r11: Reg.R11,
  r12: Reg.R12,
  r13: Reg.R13,
  r14: Reg.R14,
  r15: Reg.R15,
};

/** Sets the registers that the kernel recorded at a site. */
const setRegisters = (regs: RegisterFile, event: string): void => {
  const [line = ''] = cases.find(({ definition }) => eventOf(definition) === event)!.lines;
  for (const [, name = '', value = ''] of line.matchAll(/(\w+)=(0x[0-9a-f]+)/g)) {
    const reg = REGISTERS[name];
    if (reg !== undefined) regs.write(reg, BigInt(value));
  }
};

const program = memoryInode('/fetch-args', readFileSync(PROGRAM));

const load = (): { engine: FakeEngine; task: Task } => {
  const engine = new FakeEngine();
  const space = new AddressSpace(engine);
  loadProgram(space, {
    file: program,
    interpreter: () => undefined,
    argv: [],
    env: [],
    execFn: new Uint8Array(),
    random: new Uint8Array(16),
    facts: { hwcap: 0n, hwcap2: 0n, minSignalStack: 1440n, uid: 0, gid: 0 },
  });
  const task = { tid: 7, tgid: 7, comm: 'fetch-args', mm: { space }, regs: engine.regs };
  return { engine, task: task as unknown as Task };
};

const BASE = 0x400000n;
const FUNC = 0x10b0n;

/** What our probe of the definition prints when its site is hit as in the recording. */
const hit = ({ definition }: TraceCase): string[] => {
  const { engine, task } = load();
  const records: TraceRecord[] = [];
  const uprobes = registrar();
  const events = new TraceEvents(eventContext(uprobes));
  const array = new TraceArray(() => 0n);
  array.sink = { wantsRegisters: false, emit: (one) => records.push(one) };
  const parsed = parseDefinition(placed(definition, '/fetch-args'));
  if (!parsed.ok || parsed.definition.site.spot.kind !== 'offset') throw new Error(definition);
  const { offset } = parsed.definition.site.spot;
  const added = events.add(bindDefinition(parsed.definition, '/fetch-args', offset), program);
  if (!added.ok) throw new Error(definition);
  setRegisters(engine.regs, offset === 0x1076n ? 'registers_site' : 'registers_again');
  if (offset === FUNC) {
    // `lea stack, %rsp; call func` stand between `again` and here; `func` returns `text`.
    engine.regs.write(Reg.Rsp, 0x402080n);
    engine.regs.write(Reg.Rip, 0x4010a7n);
    if (parsed.definition.kind === 'return') engine.regs.write(Reg.Rax, 0x402100n);
  }
  const seen: Hit = {
    task,
    regs: engine.regs,
    site: BASE + offset,
    via: 'int3',
    cookie: null,
  };
  expect(added.probe.event.use(array.file(added.probe.event))).toBeNull();
  const [consumer] = uprobes.consumers;
  consumer?.entry?.(seen);
  consumer?.return?.(seen);
  return records.map((one) => escapeBody(textBytes(traceBody(one))));
};

describe('fetch arguments', () => {
  for (const trace of cases)
    it(trace.definition.slice(0, 200), () => {
      expect(hit(trace)).toEqual(trace.lines);
    });

  it('are what this machine’s kernel prints', (ctx) => {
    const note = noKernel();
    if (note !== null) return ctx.skip(note);
    expect(recordAll(cases)).toEqual(cases);
  });
});
