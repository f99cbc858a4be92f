import { statSync } from 'node:fs';
import {
  type AgainstName,
  Campaign,
  Corpus,
  type EngineName,
  type Finding,
  mergeCorpora,
  Pool,
  type Totals,
} from '../../fuzz/index.ts';
import { loadEngine } from '../../host/node/index.ts';
import { findProfile, PROFILE_NAMES, requireProfile } from '../../index.ts';
import { FileError, Status, UsageError } from '../errors.ts';
import { complain, print, printable, printJson } from '../output.ts';
import type { FuzzOptions } from '../program/fuzz.ts';
import { fuzzProgress, lineOf, perSecond } from './fuzz-progress.ts';

/** The campaign has findings. */
const FOUND = 1;

const wholeNumber = (text: string, option: string, least: number): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
    throw new UsageError(`${option} takes a whole number from ${least} on, not "${text}"`);
  return value;
};

/** Every worker is a thread or process of its own, started at once. */
const MAX_JOBS = 256;

const jobsOf = (text: string): number => {
  const jobs = wholeNumber(text, '--jobs', 1);
  if (jobs > MAX_JOBS) throw new UsageError(`--jobs takes at most ${MAX_JOBS}, not "${text}"`);
  return jobs;
};

const secondsOf = (text: string): number => {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0)
    throw new UsageError(`--time takes seconds, not "${text}"`);
  return seconds * 1000;
};

const shardOf = (text: string): { readonly index: number; readonly of: number } => {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '' || Number(index) < 1 || Number(index) > Number(of))
    throw new UsageError(`--shard takes I/N with I from 1 to N, not "${text}"`);
  return { index: Number(index) - 1, of: Number(of) };
};

/** A kernel or an engine. `native` and `kernel` of the contract are not there yet. */
const againstOf = async (text: string): Promise<AgainstName> => {
  const profile = findProfile(text);
  if (profile !== undefined) return { profile: profile.name };
  if (text === 'native' || text === 'kernel')
    throw new UsageError(`--against ${text} is not available yet; it takes a kernel or an engine`);
  const { name } = await loadEngine(text as EngineName);
  return { engine: name as EngineName };
};

const openCorpus = (directory: string): Corpus => {
  try {
    return new Corpus(directory, complain);
  } catch (error) {
    const reason = error instanceof Error ? error.message : `${error}`;
    throw new FileError(`cannot keep a corpus in ${directory}: ${reason}`);
  }
};

const findingText = ({ cause, title, instructions, profiles, difference }: Finding): string[] => [
  `${cause}: ${printable(title)}`,
  ...instructions.map((text) => `    ${text}`),
  `  ${printable(difference)}`,
  `  on ${profiles.join(' ')}`,
  '',
];

const show = (finding: Finding, json: boolean): void => {
  if (json) printJson({ v: 1, type: 'finding', ...finding });
  else print(findingText(finding));
};

const showEnd = (totals: Totals, json: boolean): void => {
  const { cases, skipped, coverage, findings } = totals;
  if (json) {
    const cases_per_s = perSecond(totals);
    printJson({ v: 1, type: 'summary', cases, cases_per_s, coverage, findings, skipped });
    return;
  }
  const reasons = Object.entries(skipped).map(([why, count]) => `${why} ${count}`);
  const left = reasons.length === 0 ? '' : `; not compared: ${reasons.join(', ')}`;
  print([`${lineOf(totals)}${left}`]);
};

/** Ctrl-C ends the campaign after the batches under way; a second one at once. */
const stopOnInterrupt = (campaign: Campaign): (() => void) => {
  const onInterrupt = (): void => {
    process.off('SIGINT', onInterrupt);
    campaign.stop();
  };
  process.on('SIGINT', onInterrupt);
  return () => process.off('SIGINT', onInterrupt);
};

/** `trapline fuzz`. */
export const runFuzz = async (options: FuzzOptions): Promise<number> => {
  const jobs = jobsOf(options.jobs);
  const seed = wholeNumber(options.seed, '--seed', 0);
  const count = options.count === undefined ? null : wholeNumber(options.count, '--count', 1);
  const time = options.time === undefined ? null : secondsOf(options.time);
  const shard = options.shard === undefined ? null : shardOf(options.shard);
  const profiles =
    options.kernel === undefined ? PROFILE_NAMES : [requireProfile(options.kernel).name];
  const corpus = options.corpus === undefined ? null : openCorpus(options.corpus);
  // Said here rather than by every worker.
  const { name: engine } = await loadEngine(options.engine);
  const against = options.against === undefined ? undefined : await againstOf(options.against);
  const pool = new Pool(jobs, engine as EngineName, against);
  const json = options.json === true;
  const progress = fuzzProgress(process.stderr);
  const campaign = new Campaign({
    seed,
    profiles,
    jobs,
    ...(count !== null && { count }),
    ...(time !== null && { time }),
    ...(shard !== null && { shard }),
    ...(corpus !== null && { corpus }),
    run: (request) => pool.run(request),
    onFinding: (finding) => {
      progress.clear();
      show(finding, json);
    },
    onProgress: (totals) => progress.show(totals),
  });
  const release = stopOnInterrupt(campaign);
  try {
    const totals = await campaign.run();
    progress.clear();
    showEnd(totals, json);
    return totals.findings === 0 ? Status.ok : FOUND;
  } finally {
    release();
    await pool.close();
  }
};

const existing = (directory: string): Corpus => {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new FileError(`${directory} is no directory`);
  return openCorpus(directory);
};

/** `trapline fuzz merge`. */
export const runMerge = (into: string, from: readonly string[]): number => {
  const others = from.map(existing);
  const added = mergeCorpora(openCorpus(into), others);
  print([`${added.cases} cases and ${added.findings} findings added to ${into}`]);
  return Status.ok;
};
