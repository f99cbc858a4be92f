/** From errors to one line on stderr and an exit status. */
import { CommanderError } from 'commander';
import { complain } from './output.ts';

/** Our own statuses; a program's is its own, and 128+N for a signal. */
export const Status = {
  ok: 0,
  /** The command line is wrong. */
  usage: 2,
  /** A limit of ours ended the run. */
  limit: 124,
  /** Nothing was started. */
  notStarted: 125,
} as const;

/** What `TraplineError` looks like, without importing the library to find out. */
interface KnownError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
}

const isKnown = (error: unknown): error is KnownError =>
  error instanceof Error && error.name === 'TraplineError';

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  'bad-option': Status.usage,
  limit: Status.limit,
};

/** A wrong command line. */
export class UsageError extends Error {}

/** A file the user named cannot be used; nothing is started. */
export class FileError extends Error {}

const place = (error: Error): string => {
  const frame = /\(?((?:file:\/\/)?\/[^()\n]+:\d+:\d+)\)?/.exec(error.stack ?? '')?.[1];
  return frame === undefined ? '' : ` at ${frame.replace(/^.*\/(?=(dist|src)\/)/, '')}`;
};

const internalError = (error: unknown): string => {
  const what =
    error instanceof Error ? `${error.message || error.name}${place(error)}` : `${error}`;
  return `internal error: ${what}; this is a bug: please report it with the command line and \`trapline --version\``;
};

/** Says what went wrong in one line; returns the exit status. */
export const reportError = (error: unknown): number => {
  // Commander has spoken already; help and version end with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? Status.ok : Status.usage;
  if (error instanceof UsageError || error instanceof FileError) {
    complain(error.message);
    return error instanceof UsageError ? Status.usage : Status.notStarted;
  }
  if (isKnown(error) && error.code !== 'internal') {
    complain(error.hint === undefined ? error.message : `${error.message}; ${error.hint}`);
    return STATUS_BY_CODE[error.code] ?? Status.notStarted;
  }
  complain(internalError(error));
  return Status.notStarted;
};
