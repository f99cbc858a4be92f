/** The options of `trapline verify`, from text to values. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProfile, profileOfRelease } from '../../index.ts';
import { FileError, UsageError } from '../errors.ts';
import type { RunOptions } from '../run/settings.ts';
import { settingsOf } from '../run/settings.ts';

/** As commander hands them over. */
export type VerifyOptions = Pick<
  RunOptions,
  'json' | 'kernel' | 'engine' | 'color' | 'probe' | 'probes' | 'env' | 'timeout'
>;

export interface VerifySettings {
  readonly json: boolean;
  readonly program: {
    readonly path: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  readonly stdin: Uint8Array;
  readonly probes: readonly string[];
  readonly profile: string;
  readonly engine: RunOptions['engine'];
  readonly timeoutMs: number;
  /** What the user should know before the results. */
  readonly warnings: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 60_000;

const isOf = (name: string, release: string): boolean =>
  release.startsWith(`${name.slice(1)}.`) || release.startsWith(`${name.slice(1)}-`);

/** The rules of the running kernel; others would say nothing about it. */
const profileHere = (release: string, asked: string | undefined) => {
  const profile = profileOfRelease(release);
  if (profile === undefined)
    throw new FileError(`this kernel, ${release}, is older than every profile`);
  if (asked !== undefined && findProfile(asked) !== profile)
    throw new UsageError(
      `--kernel ${asked} is not this machine's kernel: ${release} has the rules of ${profile.name}`,
    );
  const warnings = isOf(profile.name, release)
    ? []
    : [`no profile is that of ${release}; compared with ${profile.name}, the newest before it`];
  return { profile: profile.name, warnings };
};

/** Both runs read the same; a terminal has nothing to give. */
const readInput = (): Uint8Array =>
  process.stdin.isTTY ? new Uint8Array(0) : new Uint8Array(readFileSync(0));

/** @param release of the running kernel */
export const verifySettings = (
  path: string,
  args: readonly string[],
  options: VerifyOptions,
  release: string,
): VerifySettings => {
  const run = settingsOf({ ...options, format: 'text', seed: '1' });
  const { profile, warnings } = profileHere(release, options.kernel);
  return {
    json: run.json,
    program: { path: resolve(path), args, env: run.env },
    stdin: readInput(),
    probes: run.probes,
    profile,
    engine: options.engine,
    timeoutMs: run.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    warnings,
  };
};
