import {
  hostMount,
  hostProgram,
  hostRoot,
  loadEngine,
  type ProcessStdio,
  processStdio,
} from '../../host/node/index.ts';
import {
  exitJson,
  Machine,
  type MachineOptions,
  profileJson,
  profileLine,
  requireProfile,
  statsJson,
} from '../../index.ts';
import { type Abort, type Ending, endingOf } from '../run/ending.ts';
import {
  environmentOf,
  instructionLimitOf,
  mountsOf,
  probesOf,
  type RunOptions,
  seedOf,
  timeLimitOf,
} from '../run/settings.ts';
import { type LineOutput, openOutput, traceSink } from '../run/trace-output.ts';

export type { RunOptions } from '../run/settings.ts';

const isJson = (options: RunOptions): boolean => options.json === true || options.format === 'json';

const machineOptions = async (
  path: string,
  args: readonly string[],
  options: RunOptions,
  stdio: ProcessStdio,
): Promise<MachineOptions> => ({
  program: hostProgram(path),
  argv: [path, ...args],
  env: environmentOf(options),
  profile: requireProfile(options.kernel).name,
  ...(options.root !== undefined && { root: hostRoot(options.root) }),
  mounts: mountsOf(options).map(({ host, guest, writable }) => hostMount(host, guest, writable)),
  io: stdio.io,
  seed: seedOf(options),
  probeBase: process.cwd(),
  log: (line) => stdio.stderr.line(`trapline: ${line}`),
  engine: await loadEngine(options.engine),
});

/** Calls `abort` at a second Ctrl-C or a termination signal; the first Ctrl-C is the program's. */
const watchSignals = (machine: Machine, abort: (why: Abort) => void): (() => void) => {
  let interrupted = false;
  const interrupt = (): void => {
    if (interrupted) abort({ kind: 'signal', signal: 2 });
    else machine.interrupt();
    interrupted = true;
  };
  const terminate = (): void => abort({ kind: 'signal', signal: 15 });
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
};

/** Runs the machine until it ends, or until we end it. */
const runUntilEnd = async (
  machine: Machine,
  options: RunOptions,
  output: LineOutput,
): Promise<Ending> => {
  const controller = new AbortController();
  let why: Abort | null = null;
  const abort = (reason: Abort): void => {
    why ??= reason;
    controller.abort();
  };
  const ms = timeLimitOf(options);
  const timer = ms === undefined ? undefined : setTimeout(() => abort({ kind: 'timeout', ms }), ms);
  const unwatch = watchSignals(machine, abort);
  const maxInstructions = instructionLimitOf(options);
  try {
    const end = await machine.run({
      ...(maxInstructions !== undefined && { maxInstructions }),
      abort: controller.signal,
      interruptible: true,
      onSlice: () => {
        output.flush();
        if (output.error === 'EPIPE') abort({ kind: 'closed-pipe' });
      },
    });
    return endingOf(end, why, options.engine);
  } finally {
    clearTimeout(timer);
    unwatch();
  }
};

/** Hits and counters at the end: beside the trace as JSON, on stderr as text. */
const printSummary = (
  machine: Machine,
  options: RunOptions,
  output: LineOutput,
  stdio: ProcessStdio,
): void => {
  const json = isJson(options);
  const target = json ? output : stdio.stderr;
  if (options.profile)
    for (const entry of machine.tracefs.profile())
      target.line(json ? profileJson(entry) : profileLine(entry.path, entry.event, entry.hits));
  if (!options.stats) return;
  const counters = machine.stats();
  if (json) target.line(statsJson(counters));
  else
    for (const [name, value] of Object.entries(counters))
      target.line(`${name.padEnd(32)} ${value.toString().padStart(12)}`);
};

const finish = (
  machine: Machine,
  ending: Ending,
  options: RunOptions,
  output: LineOutput,
  stdio: ProcessStdio,
): void => {
  printSummary(machine, options, output, stdio);
  if (isJson(options)) output.line(exitJson({ pid: machine.pid, ...ending.record }));
  if (ending.line !== null) stdio.stderr.line(`trapline: ${ending.line}`);
};

/** `trapline run`. */
export const run = async (
  path: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number> => {
  // What is wrong on the command line is said before anything is opened.
  const probes = probesOf(options);
  instructionLimitOf(options);
  timeLimitOf(options);
  const stdio = processStdio();
  try {
    const machine = Machine.create(await machineOptions(path, args, options, stdio));
    const output = openOutput(options.output, stdio);
    try {
      machine.tracefs.sink = traceSink(output, isJson(options));
      for (const probe of probes) machine.tracefs.define(probe);
      const ending = await runUntilEnd(machine, options, output);
      finish(machine, ending, options, output, stdio);
      return ending.status;
    } finally {
      output.close();
      machine.dispose();
    }
  } finally {
    stdio.close();
  }
};
