/** Nanoseconds an instruction takes, by workload; the guest is bench/guest/speed.c. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineFactory, Machine, MemoryTree } from '../index.ts';

/** Rounds that are some hundred thousand instructions each workload; the guest knows it by its first letter. */
export const WORKLOADS = {
  fib: 2,
  sieve: 1,
  memcpy: 30,
  crc32: 1,
  hash: 2,
  nbody: 10,
} as const;
export type Workload = keyof typeof WORKLOADS;

/** How much more of it an engine gets, so that it takes long enough to be measured. */
const FACTOR: Readonly<Record<string, number>> = { core: 50, 'unicorn-native': 10 };

const FLAGS = [
  ...['-O2', '-static', '-nostdlib', '-fno-builtin', '-fno-tree-vectorize'],
  '-fcf-protection=none',
];

/** The guest, compiled here; undefined without gcc. */
export const speedProgram = (source: string): Uint8Array | undefined => {
  const directory = mkdtempSync(join(tmpdir(), 'trapline-bench-'));
  const program = join(directory, 'speed');
  const { status } = spawnSync('gcc', [...FLAGS, '-o', program, source], { stdio: 'ignore' });
  const bytes = status === 0 ? readFileSync(program) : undefined;
  rmSync(directory, { recursive: true });
  return bytes;
};

/** Processor time: the machine may be busy with other things. */
export const instructionTime = async (
  engine: EngineFactory,
  bytes: Uint8Array,
  workload: Workload,
): Promise<number> => {
  const tree = new MemoryTree({ speed: { bytes, mode: 0o755 } });
  const rounds = WORKLOADS[workload] * (FACTOR[engine.name] ?? 1);
  const machine = Machine.create({
    engine,
    program: { path: '/speed', tree, file: 'speed' },
    argv: ['speed', workload, String(rounds)],
  });
  const start = process.cpuUsage();
  const end = await machine.run();
  const { user } = process.cpuUsage(start);
  const { instructions = Number.NaN } = machine.stats();
  machine.dispose();
  if (end.kind !== 'exit') throw new Error(`${workload} ended oddly: ${end.kind}`);
  return (user * 1000) / instructions;
};
