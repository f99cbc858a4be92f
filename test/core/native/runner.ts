/** The machine's own CPU as an oracle: builds `runner.c` with gcc and feeds it cases. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Case, CODE_SIZE, type End, type Outcome, WINDOW_SIZE } from './case.ts';

const FX = 512;
const INPUT = CODE_SIZE + 17 * 8 + FX + WINDOW_SIZE;
const OUTPUT = 3 * 8 + 18 * 8 + FX + WINDOW_SIZE;

/** Signals by number (Linux, x86-64). */
const ENDS: Readonly<Record<number, End>> = { 4: 'ill', 5: 'int3', 7: 'bus', 8: 'fpe', 11: 'segv' };
/** si_code of a fault with an address: SEGV_MAPERR, SEGV_ACCERR. */
const ADDRESSED: ReadonlySet<number> = new Set([1, 2]);

export class NativeRunner {
  readonly #directory = mkdtempSync(join(tmpdir(), 'trapline-native-'));
  readonly #program = join(this.#directory, 'runner');

  constructor() {
    const source = join(import.meta.dirname, 'runner.c');
    const { status, stderr } = spawnSync('gcc', ['-O1', '-o', this.#program, source], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`runner.c: ${stderr}`);
  }

  run(cases: readonly Case[]): Outcome[] {
    const input = Buffer.alloc(cases.length * INPUT);
    cases.forEach((one, i) => {
      write(input.subarray(i * INPUT, (i + 1) * INPUT), one);
    });
    const { status, signal, stdout } = spawnSync(this.#program, {
      input,
      maxBuffer: (cases.length + 1) * OUTPUT,
      timeout: 60_000,
    });
    if (status !== 0 || stdout.length !== cases.length * OUTPUT)
      throw new Error(
        `runner ended with ${signal ?? status} after ${stdout.length / OUTPUT} cases`,
      );
    return cases.map((_, i) => read(stdout.subarray(i * OUTPUT, (i + 1) * OUTPUT)));
  }

  dispose(): void {
    rmSync(this.#directory, { recursive: true });
  }
}

const write = (into: Buffer, { code, state }: Case): void => {
  into.fill(0xcc, 0, CODE_SIZE);
  into.set(code);
  let at = CODE_SIZE;
  for (const value of [...state.gpr, state.flags]) at = into.writeBigUInt64LE(value, at);
  into.set(state.fx, at);
  into.set(state.window, at + FX);
};

const read = (from: Buffer): Outcome => {
  const word = (i: number): bigint => from.readBigUInt64LE(8 * i);
  const end = ENDS[Number(word(0))] ?? 'other';
  const addressed = end === 'segv' && ADDRESSED.has(Number(word(1)));
  return {
    end,
    address: addressed ? word(2) : 0n,
    gpr: Array.from({ length: 16 }, (_, i) => word(3 + i)),
    rip: word(19),
    flags: word(20),
    fx: Uint8Array.from(from.subarray(168, 168 + FX)),
    window: Uint8Array.from(from.subarray(168 + FX)),
  };
};
