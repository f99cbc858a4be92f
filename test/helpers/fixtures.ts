/** Programs and goldens of `fixtures/`, and the building of those programs that need a libc. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Golden, parseGolden } from '../golden/golden-file.ts';
import { missing } from './requirements.ts';

/** The checkout; the guest sees it at {@link GUEST_ROOT}. */
export const CHECKOUT = join(import.meta.dirname, '..', '..');

/** Where the recorder bound the checkout, and where the guest must find it. */
export const GUEST_ROOT = '/trapline';

const TRACES = join(CHECKOUT, 'fixtures', 'traces');

const goldensIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.golden'))
    .map((file) => file.slice(0, -'.golden'.length))
    .sort();

export const goldenNames = (): readonly string[] => goldensIn(TRACES);

export const readGolden = (name: string): Golden =>
  parseGolden(name, readFileSync(join(TRACES, `${name}.golden`), 'utf8'));

/** Releases other than 6.18 of which goldens were recorded: the folders of `fixtures/traces/`. */
export const otherReleases = (): readonly string[] =>
  readdirSync(TRACES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** The cases in which a release said the same as 6.18: lines of its file `same`. */
const sameAsHere = (release: string): readonly string[] =>
  readFileSync(join(TRACES, release, 'same'), 'utf8')
    .trimEnd()
    .split('\n');

/** Every golden of another release, those that only its file `same` names as well. */
export const goldensOf = (release: string): readonly Golden[] => [
  ...goldensIn(join(TRACES, release)).map((name) => readGolden(join(release, name))),
  ...sameAsHere(release).map((name) => ({
    ...readGolden(name),
    kernel: `Linux ${release} x86_64`,
  })),
];

/** Programs of `fixtures/build/` come from a compiler of this machine. */
export const isBuilt = (program: string): boolean => program.startsWith('fixtures/build/');

/** Needs the dynamic loader and the C library of the host. */
export const isDynamic = (program: string): boolean => /-dynamic$|\/shared$/.test(program);

const compilerOf = (program: string) => (program.includes('musl') ? 'musl-gcc' : 'gcc');

const missingMake = (): string | null =>
  spawnSync('make', ['--version'], { stdio: 'ignore' }).status === 0
    ? null
    : 'needs make: apt install make (builds the fixtures)';

/** Why the golden's program cannot be had here, for `ctx.skip`; null when it can. */
export const missingProgram = (golden: Golden): string | null =>
  isBuilt(golden.program) ? (missing(compilerOf(golden.program)) ?? missingMake()) : null;

/** Why goldens cannot be recorded here, for `ctx.skip`; null when they can. */
export const missingRecorder = (): string | null =>
  missing('kernel 6.18 as root') ?? missing('gcc') ?? missingMake();

const built = new Map<string, string | null>();

const make = (target: string): string | null => {
  const { status, error, stderr } = spawnSync(
    'make',
    ['-s', '-C', join(CHECKOUT, 'fixtures'), target],
    { encoding: 'utf8' },
  );
  if (error !== undefined) return `make ${target}: ${error.message}`;
  return status === 0 ? null : `make ${target} failed: ${stderr}`;
};

const makeOnce = (target: string): void => {
  if (!built.has(target)) built.set(target, make(target));
  const failure = built.get(target);
  if (failure) throw new Error(failure);
};

/** Builds a program that is not committed. Preconditions: {@link missingProgram} is null. */
export const ensureBuilt = (program: string): void => {
  if (isBuilt(program)) makeOnce(compilerOf(program) === 'gcc' ? 'glibc' : 'musl');
};

/**
 * Records a case on this machine's kernel into `directory`. Preconditions: {@link missingRecorder}
 * is null.
 * @returns what the recorder said; empty = nothing went wrong
 */
export const record = (name: string, directory: string): string => {
  makeOnce('recorder');
  const recorder = join(CHECKOUT, 'fixtures', 'build', 'record');
  const file = join(CHECKOUT, 'fixtures', 'cases', `${name}.case`);
  return spawnSync(recorder, [CHECKOUT, file, '-o', directory], { encoding: 'utf8' }).stderr;
};

/** False when a compiler other than the golden's built any of its files: addresses may differ. */
export const isRecordedProgram = (golden: Golden): boolean =>
  [...golden.hashes].every(([path, hash]) => {
    const bytes = readFileSync(join(CHECKOUT, path));
    return createHash('sha256').update(bytes).digest('hex') === hash;
  });
