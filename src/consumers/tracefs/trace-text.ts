import type { TraceRecord } from '../event/record.ts';
import { traceLine } from '../event/text.ts';
import type { TraceArray } from './trace-array.ts';

/** What stands above the lines of `trace`; we have one CPU. */
const header = (entries: number, written: number): string =>
  `# tracer: nop
#
# entries-in-buffer/entries-written: ${entries}/${written}   #P:1
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
`;

/** The line of a record with its end. */
export const lineOf = (record: TraceRecord): string => `${traceLine(record)}\n`;

/** What `trace_pipe` says before a record when older ones were overwritten; `trace` does not. */
export const lostLine = (count: number): string =>
  count === 0 ? '' : `CPU:0 [LOST ${count} EVENTS]\n`;

/** Text of the `trace` file. */
export const traceText = (array: TraceArray): string => {
  const { ring } = array;
  const lines = Array.from(ring, (stored) => lineOf(array.decode(stored)));
  return `${header(ring.entries, ring.entries + ring.overrun)}${lines.join('')}`;
};
