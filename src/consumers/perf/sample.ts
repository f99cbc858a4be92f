/** Layout of PERF_RECORD_SAMPLE (perf_output_sample): one writer a sample type, in the kernel's order. */
import { MEM_NA, MISC_USER, PerfRegs, REGS_ABI_64, RecordType, Sample } from '../../abi/perf.ts';
import { PAGE_SIZE } from '../../base/bytes.ts';
import { Reg, type RegisterFile } from '../../cpu/engine.ts';
import { TASK_SIZE } from '../../memory/address-space.ts';
import type { PendingReturns, Profile } from '../../uprobes/index.ts';
import type { EventRecord } from '../event/event-record.ts';
import type { PerfAttr } from './attr.ts';
import { writeCallchain } from './callchain.ts';
import type { PerfEvent } from './event.ts';
import type { RecordWriter } from './record-writer.ts';
import { readValues } from './values.ts';

/** What a sample is made of. One object a machine, overwritten by the next sample. */
export interface SampleSource {
  event: PerfEvent;
  record: EventRecord;
  timeNs: bigint;
  period: bigint;
  /** See {@link writeCallchain}. */
  atPush: boolean;
  pending: PendingReturns | null;
  rule: Profile['userCallchains'];
}

type FieldWriter = (into: RecordWriter, from: SampleSource) => void;

const MAX_RECORD = 0xffff;

const REGISTERS: Readonly<Record<string, (regs: RegisterFile) => bigint>> = {
  ax: (regs) => regs.read(Reg.Rax),
  bx: (regs) => regs.read(Reg.Rbx),
  cx: (regs) => regs.read(Reg.Rcx),
  dx: (regs) => regs.read(Reg.Rdx),
  si: (regs) => regs.read(Reg.Rsi),
  di: (regs) => regs.read(Reg.Rdi),
  bp: (regs) => regs.read(Reg.Rbp),
  sp: (regs) => regs.read(Reg.Rsp),
  ip: (regs) => regs.read(Reg.Rip),
  flags: (regs) => regs.read(Reg.Rflags),
  cs: () => 0x33n,
  ss: () => 0x2bn,
  r8: (regs) => regs.read(Reg.R8),
  r9: (regs) => regs.read(Reg.R9),
  r10: (regs) => regs.read(Reg.R10),
  r11: (regs) => regs.read(Reg.R11),
  r12: (regs) => regs.read(Reg.R12),
  r13: (regs) => regs.read(Reg.R13),
  r14: (regs) => regs.read(Reg.R14),
  r15: (regs) => regs.read(Reg.R15),
};

const writeRegs = (into: RecordWriter, regs: RegisterFile, mask: bigint): void => {
  into.u64(REGS_ABI_64);
  for (const [bit, name] of PerfRegs.entries())
    if ((mask >> BigInt(bit)) & 1n) into.u64(REGISTERS[name]?.(regs) ?? 0n);
};

/** perf_sample_ustack_size: the dump is cut so that the record's size fits into 16 bits. */
const stackSize = (wanted: number, sp: bigint, at: number): number => {
  if (sp === 0n || sp >= TASK_SIZE) return 0;
  const left = TASK_SIZE - sp;
  const size = left < BigInt(wanted) ? Number(left) : wanted;
  const before = at + 16; // the two words around the dump
  return before + size > MAX_RECORD ? (MAX_RECORD - before - 8 + 7) & ~7 : size;
};

const writeStack: FieldWriter = (into, { event, record: { hit } }) => {
  const sp = hit.regs.read(Reg.Rsp);
  const size = stackSize(event.attr.stackUser, sp, into.at);
  into.u64(BigInt(size));
  if (size === 0) return;
  const got = hit.task.mm.space.read(sp, into.reserve(size));
  into.u64(BigInt(got));
};

/** struct trace_entry of a perf record: no flags, and the one count of disabled preemption. */
const PERF_CONTEXT = 1 << 24;

const writeRaw: FieldWriter = (into, { record }) => {
  const { bytes, size, probe } = record;
  const padded = ((size + 4 + 7) & ~7) - 4;
  into.u32(padded);
  into.u32(PERF_CONTEXT | probe.event.id);
  into.reserve(padded - 4).set(bytes.subarray(4, size));
};

const word =
  (value: (from: SampleSource) => bigint): FieldWriter =>
  (into, from) =>
    into.u64(value(from));
const zero = word(() => 0n);

const FIELDS: readonly (readonly [type: number, write: FieldWriter])[] = [
  [Sample.IDENTIFIER, word(({ event }) => event.id)],
  [Sample.IP, word(({ record }) => record.hit.regs.read(Reg.Rip))],
  [
    Sample.TID,
    (into, { record }) => {
      into.u32(record.hit.task.tgid);
      into.u32(record.hit.task.tid);
    },
  ],
  [Sample.TIME, word(({ timeNs }) => timeNs)],
  [Sample.ADDR, zero],
  [Sample.ID, word(({ event }) => event.id)],
  [Sample.STREAM_ID, word(({ event }) => event.id)],
  [Sample.CPU, zero],
  [Sample.PERIOD, word(({ period }) => period)],
  [
    Sample.READ,
    (into, { event }) => {
      for (const value of readValues(event)) into.u64(value);
    },
  ],
  [
    Sample.CALLCHAIN,
    (into, { event: { attr }, record, atPush, pending, rule }) => {
      const excluded = attr.flags.has('excludeCallchainUser');
      const rules = { rule, maxStack: attr.maxStack, excluded };
      writeCallchain(into, record.hit, rules, atPush, pending);
    },
  ],
  [Sample.RAW, writeRaw],
  [
    Sample.REGS_USER,
    (into, { event, record }) => writeRegs(into, record.hit.regs, event.attr.regsUser),
  ],
  [Sample.STACK_USER, writeStack],
  [Sample.WEIGHT | Sample.WEIGHT_STRUCT, zero],
  [Sample.DATA_SRC, word(() => MEM_NA)],
  [Sample.TRANSACTION, zero],
  [
    Sample.REGS_INTR,
    (into, { event, record }) => writeRegs(into, record.hit.regs, event.attr.regsIntr),
  ],
  [Sample.PHYS_ADDR, zero],
  // The root of all control groups.
  [Sample.CGROUP, word(() => 1n)],
  [Sample.DATA_PAGE_SIZE, zero],
  [Sample.CODE_PAGE_SIZE, word(() => PAGE_SIZE)],
  [Sample.AUX, zero],
];

/** Makes the samples of one event. */
export class SampleEncoder {
  readonly #writers: readonly FieldWriter[];

  constructor({ sampleType }: PerfAttr) {
    this.#writers = FIELDS.flatMap(([type, write]) => (sampleType & type ? [write] : []));
  }

  /** The record; valid until the writer is used again. */
  encode(into: RecordWriter, from: SampleSource): Uint8Array {
    into.begin(RecordType.SAMPLE, MISC_USER);
    for (const write of this.#writers) write(into, from);
    return into.finish();
  }
}

/** The fields that `sample_id_all` puts behind every other record. */
const ID_FIELDS = [Sample.TID, Sample.TIME, Sample.ID, Sample.STREAM_ID, Sample.CPU] as const;

/** PERF_RECORD_LOST for `lost` records (perf_event__output_id_sample behind it). */
export const encodeLost = (into: RecordWriter, from: SampleSource, lost: number): Uint8Array => {
  const { attr, id } = from.event;
  into.begin(RecordType.LOST, 0);
  into.u64(id);
  into.u64(BigInt(lost));
  if (attr.flags.has('sampleIdAll'))
    for (const wanted of [...ID_FIELDS, Sample.IDENTIFIER])
      if (attr.sampleType & wanted) FIELDS.find(([type]) => type === wanted)?.[1](into, from);
  return into.finish();
};
