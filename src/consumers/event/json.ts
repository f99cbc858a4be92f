/** JSON lines: one object a line, `"v":1` and a `type` in each. */
import type { ArgValue, TraceRecord } from './record.ts';
import { valueText } from './value.ts';

const hex = (value: bigint): string => `0x${value.toString(16)}`;

type Json = string | number | null | readonly Json[];

/** Hex types stay text; decimal ones are numbers while JSON readers keep them exact. */
const argJson = (value: ArgValue): Json => {
  switch (value.kind) {
    case 'number': {
      const plain = Number(value.value);
      return value.hex || !Number.isSafeInteger(plain) ? valueText(value) : plain;
    }
    case 'char':
      return valueText(value).slice(1, -1);
    case 'string':
      return value.value;
    case 'array':
      return value.values.map(argJson);
  }
};

const line = (type: string, fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ v: 1, type, ...fields });

/** @param seq number of the hit in this run, from 1. */
export const hitJson = (record: TraceRecord, seq: number): string =>
  line('hit', {
    seq,
    time_ns: Number(record.timeNs),
    pid: record.tgid,
    tid: record.tid,
    cpu: record.cpu,
    comm: record.comm,
    group: record.group,
    probe: record.event,
    kind: record.kind,
    via: record.via,
    ip: hex(record.ip),
    ...(record.func === null ? {} : { func: hex(record.func), ret_ip: hex(record.ip) }),
    regs:
      record.regs === null
        ? null
        : Object.fromEntries(
            Object.entries(record.regs).map(([name, value]) => [name, hex(value)]),
          ),
    args: Object.fromEntries(record.args.map((arg) => [arg.name, argJson(arg.value)])),
  });

/** Counters of one probe at the end of a run. */
export interface ProfileEntry {
  readonly path: string;
  readonly group: string;
  readonly event: string;
  readonly hits: number;
  readonly missed: number;
}

export const profileJson = ({ event, ...entry }: ProfileEntry): string =>
  line('profile', {
    path: entry.path,
    group: entry.group,
    probe: event,
    hits: entry.hits,
    missed: entry.missed,
  });

export const statsJson = (counters: Readonly<Record<string, unknown>>): string =>
  line('stats', { counters });

/** How a process ended: its status, or the signal by number. */
export type ExitEntry =
  | { readonly pid: number; readonly status: number }
  | { readonly pid: number; readonly signal: number };

export const exitJson = (exit: ExitEntry): string => line('exit', { ...exit });
