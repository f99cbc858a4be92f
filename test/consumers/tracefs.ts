/** Talks to this machine's tracefs. Opens for append only: truncating would delete everybody's events. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { release } from 'node:os';
import { missing } from '../helpers/requirements.ts';

const TRACEFS = '/sys/kernel/tracing';

/** Why the goldens cannot be compared with this machine's kernel, or null. */
export const noKernel = (): string | null =>
  missing('kernel 6.18 as root') ??
  (release().startsWith('6.18.') ? null : `goldens are of Linux 6.18, this is ${release()}`);

/** A trace instance of our own; that it exists is also the lock against a second run. */
const INSTANCE = `${TRACEFS}/instances/trapline_goldens`;

const sleep = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

const lock = (): void => {
  for (let tries = 0; tries < 300; tries++) {
    try {
      mkdirSync(INSTANCE);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      sleep(100);
    }
  }
  throw new Error(`another run holds ${INSTANCE}; rmdir it if there is none`);
};

/** Runs `work` with tracefs mounted and nobody else of us in it. */
export const withTracefs = <T>(work: (instance: string) => T): T => {
  if (!existsSync(`${TRACEFS}/uprobe_events`))
    spawnSync('mount', ['-t', 'tracefs', 'tracefs', TRACEFS]);
  lock();
  try {
    return work(INSTANCE);
  } finally {
    rmdirSync(INSTANCE);
  }
};

/** Writes one command; returns the errno's name and number, or null. */
export const writeEvents = (command: string): string | null => {
  const file = openSync(`${TRACEFS}/uprobe_events`, 'a');
  try {
    writeSync(file, Buffer.from(command, 'latin1'));
    return null;
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException;
    // Node calls both 95s by the socket one's name.
    return `${code === 'ENOTSUP' ? 'EOPNOTSUPP' : code} ${-(errno ?? 0)}`;
  } finally {
    closeSync(file);
  }
};

/** Lines of the listing that name a file below `dir`: others have probes here too. */
export const listEvents = (dir: string): string[] =>
  readFileSync(`${TRACEFS}/uprobe_events`, 'utf8')
    .split('\n')
    .filter((line) => line.split(' ')[1]?.startsWith(`${dir}/`));

/** Removes the event of a listing line. */
export const removeEvent = (line: string): void => {
  writeEvents(`-:${line.split(' ')[0]!.slice(2)}`);
};

/** The newest entry of error_log with its time stamp; empty when there is none. */
const lastError = (): string =>
  readFileSync(`${TRACEFS}/error_log`, 'latin1')
    .split(/^(?=\[ *\d+\.\d+\] )/m)
    .at(-1)!;

/**
 * What the kernel answers to one definition: listing, or errno and log.
 * @param dir where all probed files are; every event there is removed.
 */
export const askKernel = (dir: string, setup: readonly string[], definition: string): string[] => {
  for (const command of setup) writeEvents(command);
  const prepared = listEvents(dir);
  const logged = lastError();
  const errno = writeEvents(definition);
  const now = listEvents(dir);
  for (const line of now) removeEvent(line);
  if (errno === null) return now.filter((line) => !prepared.includes(line));
  const entry = lastError();
  if (entry === logged) return [errno];
  return [
    errno,
    ...entry
      .replace(/^\[.*?\] /, '')
      .replace(/\n$/, '')
      .split('\n'),
  ];
};
