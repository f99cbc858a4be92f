/** How a run ended: exit status, JSON record, and our line where the reason is ours. */
import { enginesThatCan } from '../../host/node/index.ts';
import type { RunEnd } from '../../index.ts';
import { Status } from '../errors.ts';

const SIGINT = 2;
const SIGPIPE = 13;
const SIGTERM = 15;

/** Why we ended a run ourselves. */
export type Abort =
  | { readonly kind: 'timeout'; readonly ms: number }
  /** The second Ctrl-C, or a termination signal. */
  | { readonly kind: 'signal'; readonly signal: typeof SIGINT | typeof SIGTERM }
  /** Nobody reads the trace any more. */
  | { readonly kind: 'closed-pipe' };

/** What a limit's line says of itself. */
export interface RunFacts {
  readonly engine: string;
  readonly maxInstructions: number | undefined;
}

export interface Ending {
  readonly status: number;
  /** Our own reason; null when the program ended by itself, or quietly. */
  readonly line: string | null;
  /** Fields of the `exit` record. */
  readonly record: { readonly status: number } | { readonly signal: number };
}

const own = (status: number, line: string | null): Ending => ({ status, line, record: { status } });

const aborted = (abort: Abort | null): Ending => {
  switch (abort?.kind) {
    case 'timeout':
      return own(Status.limit, `ended after ${abort.ms / 1000} s, the limit of --timeout`);
    case 'signal':
      return own(128 + abort.signal, 'ended from outside');
    default:
      return own(128 + SIGPIPE, null);
  }
};

const whoCan = (engine: string, text: string): string => {
  const engines = enginesThatCan(engine, text);
  if (engines.length === 0) return 'no other engine can either';
  return engines
    .map((name) => `--engine ${name}`)
    .join(' or ')
    .concat(' can');
};

/**
 * @param abort why we asked for the end, if we did
 * @param facts the engine's name for instructions it lacks, the limit for runs that reach it
 */
export const endingOf = (end: RunEnd, abort: Abort | null, facts: RunFacts): Ending => {
  const { engine, maxInstructions } = facts;
  switch (end.kind) {
    case 'exit':
      return own(end.status, null);
    case 'signal':
      return { status: 128 + end.signal, line: null, record: { signal: end.signal } };
    case 'stuck':
      return own(Status.limit, `ended, for ${end.reason}`);
    case 'unsupported':
      return own(
        Status.limit,
        `the engine ${engine} cannot execute ${end.text} at 0x${end.address.toString(16)}; ${whoCan(engine, end.text)}`,
      );
    case 'limit':
      return end.limit === 'instructions'
        ? own(
            Status.limit,
            `ended after ${maxInstructions} instructions, the limit of --max-instructions`,
          )
        : aborted(abort);
  }
};
