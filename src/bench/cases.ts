import { type EngineFactory, Machine, MemoryTree, Reg } from '../index.ts';
import type { Listen } from './listeners.ts';
import { manyFunctions } from './many.ts';
import { benchProgram, CODE_ADDRESS, TARGET_OFFSET, type TargetName } from './program.ts';

/** Milliseconds of CPU time this process has used: neighbours on the machine disturb it less than a clock. */
const now = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The probe on a target. */
interface HitProbe {
  readonly profile: string;
  readonly listen: Listen;
}

/** Runs a target `calls` times, with or without a probe on it. Returns milliseconds. */
const runTarget = async (
  engine: EngineFactory,
  target: TargetName,
  calls: number,
  probe: HitProbe | null,
): Promise<number> => {
  const tree = new MemoryTree({
    bench: { bytes: benchProgram(target, calls), mode: 0o755 },
  });
  const machine = Machine.create({
    engine,
    program: { path: '/bench', tree, file: 'bench' },
    ...(probe && { profile: probe.profile }),
  });
  const hits = probe?.listen(machine, `@:${TARGET_OFFSET}`);
  const start = now();
  const end = await machine.run();
  const took = now() - start;
  const came = hits?.() ?? calls;
  machine.dispose();
  if (end.kind !== 'exit' || end.status !== 0)
    throw new Error(`the target ended oddly: ${end.kind}`);
  if (came !== calls) throw new Error(`${came} hits of ${calls}`);
  return took;
};

/** Microseconds one hit adds to one call. */
export const hitCost = async (
  engine: EngineFactory,
  target: TargetName,
  calls: number,
  probe: HitProbe,
): Promise<number> => {
  const plain = await runTarget(engine, target, calls, null);
  const probed = await runTarget(engine, target, calls, probe);
  return ((probed - plain) * 1000) / calls;
};

/** Milliseconds from a pattern to an attached multi link of that many places. */
export const patternAttachTime = (engine: EngineFactory, places: number): number => {
  const tree = new MemoryTree({ many: { bytes: manyFunctions(places), mode: 0o755 } });
  const machine = Machine.create({ engine, program: { path: '/many', tree, file: 'many' } });
  const start = now();
  const link = machine.uprobeMulti({ pattern: '*' }, { entry: () => undefined });
  const took = now() - start;
  machine.dispose();
  if (link.sites.length !== places) throw new Error(`${link.sites.length} places of ${places}`);
  return took;
};

const SPACE = 0x1000n;
const AFTER_INT3 = CODE_ADDRESS + 6n;

const INT3 = 0xcc;
const NOP = 0x90;

/** `mov $n,%ecx; 1: int3 (or nop); dec %ecx; jnz 1b; syscall` */
const loop = (calls: number, body: number): Uint8Array => {
  const code = Uint8Array.of(0xb9, 0, 0, 0, 0, body, 0xff, 0xc9, 0x75, 0xfb, 0x0f, 0x05);
  new DataView(code.buffer).setUint32(1, calls, true);
  return code;
};

/** Milliseconds of a loop around one byte of code, on a bare engine. */
const runLoop = (factory: EngineFactory, calls: number, body: number): number => {
  const engine = factory.create();
  engine.map(CODE_ADDRESS, SPACE, 5);
  engine.poke(CODE_ADDRESS, loop(calls, body));
  engine.regs.write(Reg.Rip, CODE_ADDRESS);
  const start = now();
  engine.run(({ kind }) => {
    if (kind !== 'int3') return 'stop';
    engine.regs.write(Reg.Rip, AFTER_INT3);
    return 'go';
  });
  const took = now() - start;
  engine.dispose();
  return took;
};

/**
 * Microseconds that an int3 whose handler writes RIP and does nothing else adds to a loop: the base
 * of all ratios.
 */
export const baseCost = (factory: EngineFactory, calls: number): number =>
  ((runLoop(factory, calls, INT3) - runLoop(factory, calls, NOP)) * 1000) / calls;
