/** The options of `trapline run`, from text to values. */
import { UsageError } from '../errors.ts';
import { readText } from '../files.ts';
import type { CommonOptions } from '../program/common.ts';

/** As commander hands them over. */
export interface RunOptions extends CommonOptions {
  readonly probe?: readonly string[];
  readonly probes?: string;
  readonly output?: string;
  readonly format: 'text' | 'json';
  readonly profile?: boolean;
  readonly stats?: boolean;
  readonly root?: string;
  readonly mount?: readonly string[];
  readonly env?: readonly string[];
  readonly seed: string;
  readonly maxInstructions?: string;
  readonly timeout?: string;
}

/** One `--mount`. */
export interface Mount {
  readonly host: string;
  readonly guest: string;
  readonly writable: boolean;
}

const whole = (option: string, text: string): bigint => {
  if (!/^(0x[0-9a-f]+|\d+)$/i.test(text))
    throw new UsageError(`${option} takes a whole number, not "${text}"`);
  return BigInt(text);
};

const seedOf = ({ seed }: RunOptions): bigint => {
  const value = whole('--seed', seed);
  if (value >= 1n << 64n) throw new UsageError('--seed takes a number below 2^64');
  return value;
};

/** Undefined = no limit. */
const instructionLimitOf = ({ maxInstructions }: RunOptions): number | undefined => {
  if (maxInstructions === undefined) return undefined;
  const value = Number(whole('--max-instructions', maxInstructions));
  if (value === 0 || !Number.isSafeInteger(value))
    throw new UsageError('--max-instructions takes a number from 1 to 2^53');
  return value;
};

/** Longest delay of a Node timer. */
const MAX_MS = 2 ** 31 - 1;

/** Milliseconds; undefined = no limit. */
const timeLimitOf = ({ timeout }: RunOptions): number | undefined => {
  if (timeout === undefined) return undefined;
  const ms = Number(timeout) * 1000;
  if (!/^\d*\.?\d+$/.test(timeout) || ms <= 0 || ms > MAX_MS)
    throw new UsageError(
      `--timeout takes seconds, more than 0 and at most 2147483, not "${timeout}"`,
    );
  return ms;
};

const environmentOf = ({ env = [] }: RunOptions): Record<string, string> =>
  Object.fromEntries(
    env.map((entry) => {
      const equals = entry.indexOf('=');
      if (equals <= 0) throw new UsageError(`--env takes NAME=VALUE, not "${entry}"`);
      return [entry.slice(0, equals), entry.slice(equals + 1)];
    }),
  );

const mountsOf = ({ mount = [] }: RunOptions): Mount[] =>
  mount.map((entry) => {
    const [, host, guest, rights] = /^(.+?):(\/[^:]*)(:rw|:ro)?$/.exec(entry) ?? [];
    if (host === undefined || guest === undefined)
      throw new UsageError(`--mount takes HOST:GUEST[:rw] with an absolute GUEST, not "${entry}"`);
    return { host, guest, writable: rights === ':rw' };
  });

/** The definitions of `-p`, then those of `--probes`. */
const probesOf = ({ probe = [], probes }: RunOptions): string[] => {
  const filed = probes === undefined ? [] : readText(probes).split('\n');
  return [...probe, ...filed.filter((line) => !/^\s*(#|$)/.test(line))];
};

/** What the command line asks for, checked as far as it can be without loading anything. */
export interface RunSettings {
  readonly json: boolean;
  /** Undefined = the default. */
  readonly kernel: string | undefined;
  readonly engine: CommonOptions['engine'];
  readonly probes: readonly string[];
  readonly output: string | undefined;
  readonly profile: boolean;
  readonly stats: boolean;
  readonly root: string | undefined;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  readonly seed: bigint;
  readonly maxInstructions: number | undefined;
  readonly timeoutMs: number | undefined;
}

/** Throws a {@link UsageError} for what is wrong. */
export const settingsOf = (options: RunOptions): RunSettings => ({
  json: options.json === true || options.format === 'json',
  kernel: options.kernel,
  engine: options.engine,
  probes: probesOf(options),
  output: options.output,
  profile: options.profile === true,
  stats: options.stats === true,
  root: options.root,
  mounts: mountsOf(options),
  env: environmentOf(options),
  seed: seedOf(options),
  maxInstructions: instructionLimitOf(options),
  timeoutMs: timeLimitOf(options),
});
