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
import { printable } from '../output.ts';
import { type Abort, type Ending, endingOf } from './ending.ts';
import type { RunSettings } from './settings.ts';
import { type LineOutput, openOutput, traceSink } from './trace-output.ts';

const machineOptions = async (
  path: string,
  args: readonly string[],
  settings: RunSettings,
  stdio: ProcessStdio,
): Promise<MachineOptions> => ({
  program: hostProgram(path),
  argv: [path, ...args],
  env: settings.env,
  profile: requireProfile(settings.kernel).name,
  ...(settings.root !== undefined && { root: hostRoot(settings.root) }),
  mounts: settings.mounts.map(({ host, guest, writable }) => hostMount(host, guest, writable)),
  io: stdio.io,
  seed: settings.seed,
  probeBase: process.cwd(),
  log: (line) => stdio.stderr.line(`trapline: ${printable(line)}`),
  engine: await loadEngine(settings.engine),
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
  settings: RunSettings,
  output: LineOutput,
): Promise<Ending> => {
  const controller = new AbortController();
  let why: Abort | null = null;
  const abort = (reason: Abort): void => {
    why ??= reason;
    controller.abort();
  };
  const { timeoutMs: ms, maxInstructions } = settings;
  const timer = ms === undefined ? undefined : setTimeout(() => abort({ kind: 'timeout', ms }), ms);
  const unwatch = watchSignals(machine, abort);
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
    return endingOf(end, why, settings);
  } finally {
    clearTimeout(timer);
    unwatch();
  }
};

/** Hits and counters at the end: beside the trace as JSON, on stderr as text. */
const printSummary = (
  machine: Machine,
  settings: RunSettings,
  output: LineOutput,
  stdio: ProcessStdio,
): void => {
  const { json } = settings;
  const target = json ? output : stdio.stderr;
  if (settings.profile)
    for (const entry of machine.tracefs.profile())
      target.line(json ? profileJson(entry) : profileLine(entry.path, entry.event, entry.hits));
  if (!settings.stats) return;
  const counters = machine.stats();
  if (json) target.line(statsJson(counters));
  else
    for (const [name, value] of Object.entries(counters).filter(([, value]) => value !== 0))
      target.line(`${name.padEnd(32)} ${value.toString().padStart(12)}`);
};

/** Exit status of a dynamic linker that lacks a library. */
const LINKER_GAVE_UP = 127;

const finish = (
  machine: Machine,
  ending: Ending,
  settings: RunSettings,
  output: LineOutput,
  stdio: ProcessStdio,
): void => {
  printSummary(machine, settings, output, stdio);
  for (const line of machine.tracefs.silent()) stdio.stderr.line(`trapline: ${printable(line)}`);
  if (ending.status === LINKER_GAVE_UP)
    for (const name of machine.unopenedLibraries())
      stdio.stderr.line(
        `trapline: ${printable(name)}, which the program needs, is not in the guest's file view; show it with --root DIR or --mount HOST:GUEST`,
      );
  if (settings.json) output.line(exitJson({ pid: machine.pid, ...ending.record }));
  output.flush();
  if (output.error !== null && output.error !== 'EPIPE')
    stdio.stderr.line(`trapline: cannot write the trace: ${output.error}`);
  if (ending.line !== null) stdio.stderr.line(`trapline: ${ending.line}`);
};

const runTraced = async (
  machine: Machine,
  settings: RunSettings,
  stdio: ProcessStdio,
): Promise<number> => {
  for (const probe of settings.probes) machine.tracefs.define(probe);
  // Only now: a refused probe must not cost an older trace.
  const output = openOutput(settings.output, stdio);
  try {
    machine.tracefs.sink = traceSink(output, settings.json);
    const ending = await runUntilEnd(machine, settings, output);
    finish(machine, ending, settings, output, stdio);
    return ending.status;
  } finally {
    output.close();
  }
};

/** Builds the machine, attaches the probes, runs; returns the exit status. */
export const execute = async (
  path: string,
  args: readonly string[],
  settings: RunSettings,
): Promise<number> => {
  const stdio = processStdio();
  try {
    const machine = Machine.create(await machineOptions(path, args, settings, stdio));
    try {
      return await runTraced(machine, settings, stdio);
    } finally {
      machine.dispose();
    }
  } finally {
    stdio.close();
  }
};
