/** From the bytes of a PERF_RECORD_SAMPLE to values, for a host that reads along. */
import {
  CONTEXT_USER,
  type PerfRegister,
  PerfRegs,
  RECORD_HEADER_SIZE,
  Sample,
} from '../../abi/perf.ts';
import { view } from '../../base/bytes.ts';
import type { RecordArg } from '../event/record.ts';
import type { PerfAttr } from './attr.ts';

/** Registers by name; those that were asked for. */
export type SampledRegisters = Readonly<Partial<Record<PerfRegister, bigint>>>;

/** One sample: what its event was told to record, and the arguments of its definition. */
export interface PerfSample {
  readonly args: readonly RecordArg[];
  readonly id?: bigint;
  readonly streamId?: bigint;
  readonly ip?: bigint;
  /** Process and thread. */
  readonly pid?: number;
  readonly tid?: number;
  readonly timeNs?: bigint;
  readonly address?: bigint;
  readonly cpu?: number;
  readonly period?: bigint;
  /** The event's count at the time. */
  readonly count?: bigint;
  /** Addresses from the site outwards, without the kernel's markers. */
  readonly callchain?: readonly bigint[];
  /** The trace record. */
  readonly raw?: Uint8Array;
  readonly registers?: SampledRegisters;
  /** Bytes from sp on. */
  readonly stack?: Uint8Array;
}

type Draft = { -readonly [K in keyof PerfSample]: PerfSample[K] };

/** Reads a record word by word. */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = RECORD_HEADER_SIZE;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = view(bytes);
  }

  u32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  u64(): bigint {
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8, true);
  }

  take(size: number): Uint8Array {
    this.#at += size;
    return this.#bytes.slice(this.#at - size, this.#at);
  }
}

const registers = (from: Reader, mask: bigint): SampledRegisters => {
  from.u64();
  const names = PerfRegs.filter((_, bit) => (mask >> BigInt(bit)) & 1n);
  return Object.fromEntries(names.map((name) => [name, from.u64()]));
};

const callchain = (from: Reader): readonly bigint[] => {
  const marker = BigInt.asUintN(64, CONTEXT_USER);
  const entries = Array.from({ length: Number(from.u64()) }, () => from.u64());
  return entries.filter((entry) => entry !== marker);
};

const stack = (from: Reader): Uint8Array => {
  const bytes = from.take(Number(from.u64()));
  return bytes.length === 0 ? bytes : bytes.subarray(0, Number(from.u64()));
};

type FieldReader = (into: Draft, from: Reader, attr: PerfAttr) => void;

/** In the order of `sample.ts`. */
const READERS: readonly (readonly [type: number, read: FieldReader])[] = [
  [Sample.IDENTIFIER, (into, from) => (into.id = from.u64())],
  [Sample.IP, (into, from) => (into.ip = from.u64())],
  [
    Sample.TID,
    (into, from) => {
      into.pid = from.u32();
      into.tid = from.u32();
    },
  ],
  [Sample.TIME, (into, from) => (into.timeNs = from.u64())],
  [Sample.ADDR, (into, from) => (into.address = from.u64())],
  [Sample.ID, (into, from) => (into.id = from.u64())],
  [Sample.STREAM_ID, (into, from) => (into.streamId = from.u64())],
  [Sample.CPU, (into, from) => (into.cpu = Number(from.u64()))],
  [Sample.PERIOD, (into, from) => (into.period = from.u64())],
  [Sample.READ, (into, from) => (into.count = from.u64())],
  [Sample.CALLCHAIN, (into, from) => (into.callchain = callchain(from))],
  [Sample.RAW, (into, from) => (into.raw = from.take(from.u32()))],
  [Sample.REGS_USER, (into, from, { regsUser }) => (into.registers = registers(from, regsUser))],
  [Sample.STACK_USER, (into, from) => (into.stack = stack(from))],
];

/** Preconditions: the event's read format is 0. */
export const decodeSample = (
  attr: PerfAttr,
  bytes: Uint8Array,
  args: readonly RecordArg[],
): PerfSample => {
  const sample: Draft = { args };
  const from = new Reader(bytes);
  for (const [type, read] of READERS) if (attr.sampleType & type) read(sample, from, attr);
  return sample;
};
