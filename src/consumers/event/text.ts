import type { TraceRecord } from './record.ts';

/** irqs off, NMI-safe, preemption off: what the kernel shows for every uprobe event. */
const FLAGS = 'DBZff';

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** `SECONDS.MICROS`, five digits wide before the point. */
export const secondsText = (ns: bigint): string => {
  const micros = ns / 1000n;
  const whole = (micros / 1_000_000n).toString().padStart(5);
  return `${whole}.${(micros % 1_000_000n).toString().padStart(6, '0')}`;
};

/** What follows the columns: `EVENT: (0xIP) arg=value …`. */
export const traceBody = (record: TraceRecord): string => {
  const where = record.func === null ? hex(record.ip) : `${hex(record.ip)} <- ${hex(record.func)}`;
  const args = record.args.map((arg) => ` ${arg.name}=${arg.text}`).join('');
  return `${record.event}: (${where})${args}`;
};

/**
 * One line of the kernel's `trace` file, without the line end. A string argument may contain line
 * ends of its own, as in the kernel. Write it with `textBytes`.
 */
export const traceLine = (record: TraceRecord): string => {
  const task = `${record.comm.padStart(16)}-${record.tid.toString().padEnd(7)}`;
  const cpu = `[${record.cpu.toString().padStart(3, '0')}]`;
  return `${task} ${cpu} ${FLAGS} ${secondsText(record.timeNs)}: ${traceBody(record)}`;
};

/** One line of `uprobe_profile`, without the line end. */
export const profileLine = (path: string, event: string, hits: number): string =>
  `  ${path} ${event.padEnd(44)} ${hits.toString().padStart(15)}`;
