import { type NativeEnd, type NativeProgram, runNatively } from './native-run.ts';
import { TraceEvents } from './trace-events.ts';
import { bodiesOf } from './trace-lines.ts';

/** What the program and its probes did on this machine. */
export interface NativeRun extends NativeEnd {
  /** Trace lines without the columns before the event. */
  readonly trace: readonly string[];
  /** `EVENT HITS`, a line a probe. */
  readonly hits: readonly string[];
  /** Records that the kernel had no room for. */
  readonly lost: number;
}

/**
 * Runs a program with probes on this machine's kernel. Only the files that the probes name are probed;
 * everything is taken away again, whatever happens.
 * @param listing lines of `uprobe_events`
 * @param group of the events, and name of the trace instance: nobody else's
 * @param abort kills the program
 */
export const verifyNatively = async (
  program: NativeProgram,
  listing: readonly string[],
  group: string,
  abort: AbortSignal,
): Promise<NativeRun> => {
  if (listing.length === 0)
    return { ...(await runNatively(program, abort)), trace: [], hits: [], lost: 0 };
  const events = new TraceEvents(listing, group);
  try {
    events.enable();
    const end = await runNatively(program, abort);
    const trace = bodiesOf(events.trace(), end.pid);
    return { ...end, trace, hits: events.hits(), lost: events.lost() };
  } finally {
    events.remove();
  }
};
