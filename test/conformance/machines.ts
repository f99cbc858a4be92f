/** Machines for rows whose program is an ELF file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, MemoryTree } from '../../src/index.ts';
import { uprobesBehind } from '../../src/machine/testing.ts';
import type { Trial } from './row.ts';

/** A machine with this program, at `/program`. */
export const machineFor = (trial: Trial, bytes: Uint8Array): Machine => {
  const tree = new MemoryTree({ program: { bytes, mode: 0o755 } });
  const machine = trial.uses(
    Machine.create({
      engine: trial.engine,
      profile: trial.profile.name,
      program: { path: '/program', tree, file: 'program' },
    }),
  );
  trial.prepare(uprobesBehind(machine));
  return machine;
};

/** A program of `test/consumers/usdt/`. */
export const usdtProgram = (name: string): Uint8Array =>
  Uint8Array.from(readFileSync(join(import.meta.dirname, '../consumers/usdt', name)));
