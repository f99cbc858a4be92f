/** The program with its probes on an engine, in the words of a comparison. */
import { hostProgram, hostRoot, loadEngine } from '../../host/node/index.ts';
import { Machine, signalName, textBytes, traceBody } from '../../index.ts';
import { printable } from '../output.ts';
import { type Abort, type Ending, endingOf } from '../run/ending.ts';
import type { VerifySettings } from './settings.ts';

/** Everything as latin-1 text: one character a byte. */
export interface Observed {
  readonly trace: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  /** `status N` or `signal N`. */
  readonly end: string;
  /** `EVENT HITS` */
  readonly hits: readonly string[];
}

/** Whole text of the pieces that a stream was given. */
const collector = () => {
  const pieces: Buffer[] = [];
  return {
    sink: (bytes: Uint8Array): null => {
      pieces.push(Buffer.from(bytes));
      return null;
    },
    text: (): string => Buffer.concat(pieces).toString('latin1'),
  };
};

const once = (bytes: Uint8Array) => {
  let rest: Uint8Array | null = bytes;
  return {
    read: async (): Promise<Uint8Array | null> => {
      const now = rest;
      rest = null;
      return now;
    },
  };
};

/** A machine that is ready to run, and what it has shown. */
export class EmulatedRun {
  readonly #machine: Machine;
  readonly #engine: string;
  readonly #streams: { readonly out: () => string; readonly err: () => string };
  readonly #trace: string[] = [];

  private constructor(machine: Machine, engine: string, out: () => string, err: () => string) {
    this.#machine = machine;
    this.#engine = engine;
    this.#streams = { out, err };
  }

  /** @throws TraplineError where the program or a probe is refused */
  static async create(settings: VerifySettings): Promise<EmulatedRun> {
    const { program, stdin, profile, probes } = settings;
    const engine = await loadEngine(settings.engine);
    const stdout = collector();
    const stderr = collector();
    const machine = Machine.create({
      program: hostProgram(program.path),
      argv: [program.path, ...program.args],
      env: program.env,
      profile,
      engine,
      root: hostRoot('/'),
      io: { stdin: once(stdin), stdout: stdout.sink, stderr: stderr.sink },
      probeBase: process.cwd(),
      log: (line) => process.stderr.write(`trapline: ${printable(line)}\n`),
    });
    const run = new EmulatedRun(machine, engine.name, stdout.text, stderr.text);
    try {
      run.#attach(probes);
    } catch (error) {
      machine.dispose();
      throw error;
    }
    return run;
  }

  /** The probes as lines of `uprobe_events`. */
  get listing(): readonly string[] {
    const text = this.#machine.tracefs.read('uprobe_events');
    return text.split('\n').filter((line) => line !== '');
  }

  /** Runs to the end; an ending of our own has a line that says why. */
  async finish(signal: AbortSignal, why: () => Abort | null): Promise<Observed & { ours: Ending }> {
    const end = await this.#machine.run({ abort: signal });
    const ours = endingOf(end, why(), { engine: this.#engine, maxInstructions: undefined });
    const hits = this.#machine.tracefs.profile().map((probe) => `${probe.event} ${probe.hits}`);
    return {
      trace: this.#trace,
      stdout: this.#streams.out(),
      stderr: this.#streams.err(),
      end: end.kind === 'signal' ? `signal ${signalName(end.signal)}` : `status ${ours.status}`,
      hits,
      ours,
    };
  }

  dispose(): void {
    this.#machine.dispose();
  }

  #attach(probes: readonly string[]): void {
    this.#machine.tracefs.sink = {
      wantsRegisters: false,
      emit: (record) => {
        const text = Buffer.from(textBytes(traceBody(record))).toString('latin1');
        this.#trace.push(...text.split('\n'));
      },
    };
    for (const probe of probes) this.#machine.tracefs.define(probe);
  }
}
