/** What a campaign keeps in a directory: cases that reached something new, findings, how far it came. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkCase, type FuzzCase } from '../case.ts';
import { type Finding, keyOf } from './finding.ts';

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Not mkdir's own `recursive`: below /proc, where ENOENT never ends, Node 20 tries for ever. */
const makeDirectory = (path: string): void => {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another shard was faster.
    if (!isDirectory(path)) throw error;
  }
};

/** How far a campaign came, so that it can go on. */
export interface Progress {
  readonly seed: number;
  /** The next batch. */
  readonly stream: number;
}

const nameOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

const checkProgress = (value: unknown): Progress => {
  const { seed, stream } = value as Progress;
  if (![seed, stream].every(isCount)) throw new SyntaxError('not a campaign’s state');
  return { seed, stream };
};

const checkFinding = (value: unknown): Finding => {
  const finding = value as Finding;
  checkCase(finding?.case);
  if (typeof finding.cause !== 'string' || typeof finding.title !== 'string')
    throw new SyntaxError('not a finding');
  return finding;
};

export class Corpus {
  readonly #directory: string;
  readonly #complain: (text: string) => void;

  /**
   * @param complain told of each file that is set aside
   * @throws what the file system throws
   */
  constructor(directory: string, complain: (text: string) => void) {
    this.#directory = directory;
    this.#complain = complain;
    for (const part of ['cases', 'findings']) makeDirectory(join(directory, part));
  }

  /** Of each kept case: what it reached, and the case. */
  cases(): Map<string, FuzzCase> {
    const kept = new Map<string, FuzzCase>();
    for (const { key, case: test } of this.#read('cases', checkKept)) kept.set(key, test);
    return kept;
  }

  findings(): Finding[] {
    return this.#read('findings', checkFinding);
  }

  progress(seed: number): Progress {
    const path = join(this.#directory, 'state.json');
    const state = existsSync(path) ? this.#parse(path, checkProgress) : null;
    return state?.seed === seed ? state : { seed, stream: 0 };
  }

  keep(key: string, test: FuzzCase): void {
    this.#write('cases', nameOf(key), { key, case: test });
  }

  keepFinding(finding: Finding): void {
    this.#write('findings', `${finding.cause}-${nameOf(keyOf(finding))}`, finding);
  }

  keepProgress(progress: Progress): void {
    this.#write('.', 'state', progress);
  }

  #write(part: string, name: string, value: unknown): void {
    const path = join(this.#directory, part, `${name}.json`);
    // A half-written file is never seen under its name.
    writeFileSync(`${path}.new`, `${JSON.stringify(value)}\n`);
    renameSync(`${path}.new`, path);
  }

  #read<T>(part: string, check: (value: unknown) => T): T[] {
    const directory = join(this.#directory, part);
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json') && isFile(join(directory, name)))
      .sort()
      .flatMap((name) => this.#parse(join(directory, name), check) ?? []);
  }

  /** Null when the file is broken; it is moved out of the way then. */
  #parse<T>(path: string, check: (value: unknown) => T): T | null {
    try {
      return check(JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
      const aside = this.#setAside(path);
      this.#complain(`${path} is broken (${error.message}); set aside as ${aside}`);
      return null;
    }
  }

  #setAside(path: string): string {
    const directory = join(this.#directory, 'broken');
    makeDirectory(directory);
    for (let number = 0; ; number++) {
      const aside = join(directory, `${basename(path)}${number === 0 ? '' : `.${number}`}`);
      if (existsSync(aside)) continue;
      renameSync(path, aside);
      return aside;
    }
  }
}

const checkKept = (value: unknown): { readonly key: string; readonly case: FuzzCase } => {
  const { key, case: test } = value as { key: string; case: unknown };
  if (typeof key !== 'string') throw new SyntaxError('no key');
  return { key, case: checkCase(test) };
};
