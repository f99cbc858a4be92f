import {
  kernelRelease,
  type NativeRun,
  verifyNatively,
  whyNotHere,
} from '../../host/node/verify/index.ts';
import { FileError, Status } from '../errors.ts';
import { complain, print, printable, printJson } from '../output.ts';
import type { Abort } from '../run/ending.ts';
import { differencesOf, type SectionDiff } from '../verify/differences.ts';
import { EmulatedRun, type Observed } from '../verify/emulated-run.ts';
import { type VerifyOptions, type VerifySettings, verifySettings } from '../verify/settings.ts';

export type { VerifyOptions } from '../verify/settings.ts';

/** The two runs differ. */
const DIFFERS = 1;

const observed = (run: NativeRun): Observed => ({
  trace: run.trace,
  stdout: Buffer.from(run.stdout).toString('latin1'),
  stderr: Buffer.from(run.stderr).toString('latin1'),
  end: run.signal === null ? `status ${run.status}` : `signal ${run.signal}`,
  hits: run.hits,
});

/** Ends both runs at Ctrl-C, a termination signal, or the time limit. */
class Watch {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #handlers: readonly (readonly [NodeJS.Signals, () => void])[];
  why: Abort | null = null;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#abort({ kind: 'timeout', ms }), ms);
    this.#handlers = [
      ['SIGINT', () => this.#abort({ kind: 'signal', signal: 2 })],
      ['SIGTERM', () => this.#abort({ kind: 'signal', signal: 15 })],
    ];
    for (const [signal, handler] of this.#handlers) process.on(signal, handler);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const [signal, handler] of this.#handlers) process.off(signal, handler);
  }

  #abort(why: Abort): void {
    this.why ??= why;
    this.#controller.abort();
  }
}

const aborted = ({ why }: Watch): number => {
  if (why?.kind === 'signal') return 128 + why.signal;
  complain('a run did not end within the limit of --timeout');
  return Status.limit;
};

const show = (differences: readonly SectionDiff[], { json, profile }: VerifySettings): void => {
  if (json) {
    const equal = differences.length === 0;
    printJson({ v: 1, type: 'verify', kernel: kernelRelease(), profile, equal, differences });
    return;
  }
  // Only line ends may pass: what programs print can hold anything.
  for (const { diff } of differences) print(diff.trimEnd().split('\n').map(printable));
};

const compare = async (settings: VerifySettings, watch: Watch): Promise<number> => {
  const run = await EmulatedRun.create(settings);
  try {
    const { program, stdin } = settings;
    const group = `trapline_verify_${process.pid}`;
    const native = await verifyNatively({ ...program, stdin }, run.listing, group, watch.signal);
    if (native.lost > 0)
      throw new FileError(`the kernel lost ${native.lost} trace records; use fewer probes`);
    const { ours, ...emulated } = await run.finish(watch.signal, () => watch.why);
    if (watch.why !== null) return aborted(watch);
    if (ours.line !== null) complain(ours.line);
    const differences = differencesOf(observed(native), emulated);
    show(differences, settings);
    return differences.length === 0 ? Status.ok : DIFFERS;
  } finally {
    run.dispose();
  }
};

/** `trapline verify`. */
export const verify = async (
  path: string,
  args: readonly string[],
  options: VerifyOptions,
): Promise<number> => {
  const reason = whyNotHere();
  if (reason !== null) throw new FileError(`verify cannot run here: ${reason}`);
  const settings = verifySettings(path, args, options, kernelRelease());
  for (const warning of settings.warnings) complain(warning);
  const watch = new Watch(settings.timeoutMs);
  try {
    return await compare(settings, watch);
  } catch (error) {
    if (watch.why === null) throw error;
    return aborted(watch);
  } finally {
    watch.end();
  }
};
