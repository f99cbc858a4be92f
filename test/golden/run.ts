/** Runs a golden's program with its probes on an engine, as the recorder ran it on the kernel. */
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { HostTree, hostRoot } from '../../src/host/node/index.ts';
import {
  Machine,
  type ProfileName,
  profileOfRelease,
  type RegisterName,
  type RunEnd,
  type TraceRecord,
  traceBody,
} from '../../src/index.ts';
import { CHECKOUT, ensureBuilt, GUEST_ROOT, isDynamic } from '../helpers/fixtures.ts';
import type { Golden } from './golden-file.ts';

/** The recorder's order. */
const REGISTERS: readonly RegisterName[] = [
  ...(['ax', 'bx', 'cx', 'dx', 'si', 'di', 'bp', 'sp', 'ip', 'flags'] as const),
  ...(['r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15'] as const),
];

/** What one run gave; lines as in the golden but not yet in the normal form. */
export interface FixtureRun {
  readonly trace: readonly string[];
  readonly registers: readonly string[];
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly profile: readonly string[];
  readonly end: string;
}

const registersLine = ({ event, kind, regs }: TraceRecord): string => {
  const values = REGISTERS.map((name) => `${name}=${regs?.[name].toString(16)}`);
  return [event, kind, ...values].join(' ');
};

const endLine = (end: RunEnd): string => {
  switch (end.kind) {
    case 'exit':
      return `status ${end.status}`;
    case 'signal':
      return `signal ${end.signal}`;
    case 'unsupported':
      return `unsupported ${end.text} at 0x${end.address.toString(16)}`;
    case 'stuck':
      return `stuck: ${end.reason}`;
    case 'limit':
      return `limit: ${end.limit}`;
  }
};

/** A stream that collects what is written. */
const collector = () => {
  const pieces: Uint8Array[] = [];
  return {
    sink: (bytes: Uint8Array): null => {
      pieces.push(bytes.slice());
      return null;
    },
    bytes: (): Uint8Array => Buffer.concat(pieces),
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

/** The rules of the kernel that made the golden. */
export const profileOf = ({ name, kernel }: Golden): ProfileName => {
  const profile = profileOfRelease(kernel.split(' ')[1] ?? '');
  if (profile === undefined) throw new Error(`${name}.golden is of no kernel we know: ${kernel}`);
  return profile.name;
};

/** Instructions after which a run that should have ended is given up. */
const LIMIT = 5_000_000;

export const runFixture = async (engine: EngineFactory, golden: Golden): Promise<FixtureRun> => {
  ensureBuilt(golden.program);
  const stdout = collector();
  const stderr = collector();
  const trace: string[] = [];
  const registers: string[] = [];
  const tree = new HostTree(CHECKOUT);
  const path = `${GUEST_ROOT}/${golden.program}`;
  const machine = Machine.create({
    engine,
    profile: profileOf(golden),
    program: { path, tree, file: golden.program },
    argv: [path, ...golden.args],
    env: golden.env,
    mounts: [{ at: GUEST_ROOT, tree }],
    io: { stdin: once(golden.stdin), stdout: stdout.sink, stderr: stderr.sink },
    ...(isDynamic(golden.program) && { root: hostRoot('/') }),
  });
  try {
    machine.tracefs.sink = {
      wantsRegisters: true,
      emit: (record) => {
        trace.push(traceBody(record));
        registers.push(registersLine(record));
      },
    };
    for (const probe of golden.probes) machine.tracefs.define(probe);
    const end = await machine.run({ maxInstructions: LIMIT });
    return {
      trace,
      registers,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      profile: machine.tracefs.profile().map(({ event, hits }) => `${event} ${hits}`),
      end: endLine(end),
    };
  } finally {
    machine.dispose();
  }
};
