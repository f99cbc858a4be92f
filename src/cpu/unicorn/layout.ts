/**
 * Where Unicorn keeps the CPU's state. Its API alone is not enough: writing RIP through it leaves the
 * run (20 us in the JavaScript build, and every translation is lost), CR2 cannot be read, and an exception
 * is taken for a double fault unless the one before is forgotten. So the state is found in memory, by
 * values only we could have put there, and used in place.
 */
import { TraplineError } from '../../base/errors.ts';
import { type Hooks, type LibraryMemory, UcReg, type UnicornCpu } from './binding.ts';
import { AS_FLAGS, CcLayout } from './condition-codes.ts';
import { ASK_FEATURES, type FeatureWords, findFeatures } from './cpuid-features.ts';

/** Byte offsets from the slot of RAX; the general registers and RIP follow it in hardware order. */
export interface Layout {
  /** `eflags`, without what {@link CcLayout} tells of. */
  readonly flags: number;
  readonly cr2: number;
  /** RIP after an interrupt hook has returned, for those that `isInterrupt`. */
  readonly nextRip: number;
  readonly errorCode: number;
  readonly isInterrupt: number;
  /** The exception being handled; -1 = none. */
  readonly exception: number;
  /** Writing `leaveValue` here makes the CPU leave the translated block at its next check. */
  readonly leave: number;
  readonly leaveValue: number;
  /** What CPUID answers from. */
  readonly features: FeatureWords;
}

const MARK = 0x5a3c_96e1_7b42_0d00n;
const SCRATCH = 0x1_0000;
const RIP = 128;
const TF = 0x100;
/** How much of the state may lie before and after the slot of RAX. */
const BEFORE = 64;
const AFTER = 8192;

const strange = (what: string): TraplineError =>
  new TraplineError('engine-limit', `this build of Unicorn is not one we know: no ${what}`, {
    hint: 'use @specy/x86 1.1.0 or libunicorn 2.0.1',
  });

/** Finds the slot of RAX. Returns the memory it lies in and its byte offset there. */
export const findRegisters = (cpu: UnicornCpu): { memory: LibraryMemory; at: number } => {
  UcReg.general.forEach((id, i) => {
    cpu.writeRegister(id, MARK + BigInt(i));
  });
  const low = Number(BigInt.asIntN(32, MARK));
  for (const memory of cpu.reachableMemory()) {
    const words = memory.words();
    for (let i = words.indexOf(low); i >= 0; i = words.indexOf(low, i + 1)) {
      if (i % 2 !== 0 || 4 * i < BEFORE || 4 * i + AFTER > 4 * words.length) continue;
      const longs = memory.longs();
      if (!UcReg.general.every((_, k) => longs[i / 2 + k] === MARK + BigInt(k))) continue;
      for (const id of UcReg.general) cpu.writeRegister(id, 0n);
      return { memory, at: 4 * i };
    }
  }
  throw strange('registers');
};

/** Runs `code` at {@link SCRATCH}; `visit` is called in the interrupt hook. */
const runScratch = (cpu: UnicornCpu, hooks: Hooks, code: readonly number[], visit: () => void) => {
  const block = cpu.allocate(cpu.windowSize);
  block.view().set(code);
  cpu.map(SCRATCH, 7, block);
  cpu.forgetCode(SCRATCH, code.length);
  const { interrupt } = hooks;
  hooks.interrupt = () => {
    visit();
    cpu.stop();
  };
  cpu.start(BigInt(SCRATCH), BigInt(SCRATCH + 4096));
  hooks.interrupt = interrupt;
  cpu.unmap(SCRATCH, cpu.windowSize);
  cpu.free(block);
};

/** Learns the layout from what two instructions change. For a fresh CPU, before paging is on. */
export const learnLayout = (cpu: UnicornCpu, hooks: Hooks): Layout => {
  const { memory, at } = findRegisters(cpu);
  const word = (offset: number): number => memory.words()[(at + offset) / 4]!;
  const long = (offset: number): bigint => memory.longs()[(at + offset) / 8]!;
  const find = (from: number, to: number, step: number, test: (o: number) => boolean): number => {
    for (let offset = from; offset !== to; offset += step) if (test(offset)) return offset;
    throw strange('state');
  };
  // IF TF DF CF ZF; 1.0 has a copy of no use before the flags
  cpu.writeRegister(UcReg.eflags, 0x202n | 0x541n);
  const flags = find(RIP + 8, RIP + 64, 8, (o) => {
    const kept = [CcLayout.operand, CcLayout.operation, CcLayout.direction].map((at) =>
      word(o + at),
    );
    return (word(o) & TF) !== 0 && kept.join() === `${0x41},${AS_FLAGS},-1`;
  });
  cpu.writeRegister(UcReg.eflags, 0x202n);

  const cr3 = 0x5a3c_9000n;
  cpu.writeRegister(UcReg.cr3, cr3);
  const cr2 = find(RIP, 2048, 8, (o) => long(o) === cr3) - 8;

  let nextRip = 0;
  let leave = 0;
  let leaveValue = 0;
  // nop; int3
  runScratch(cpu, hooks, [0x90, 0xcc], () => {
    const after = BigInt(SCRATCH + 2);
    if (long(RIP) !== after) throw strange('RIP');
    nextRip = find(RIP + 8, AFTER, 8, (o) => long(o) === after);
    const before = Array.from({ length: 16 }, (_, i) => word(-64 + 4 * i));
    cpu.stop();
    leave = find(-4, -68, -4, (o) => word(o) !== before[16 + o / 4]);
    leaveValue = word(leave);
  });
  const tail = nextRip + 8;
  const quiet = Array.from({ length: 64 }, (_, i) => word(tail + 4 * i));
  // xor ecx,ecx; div ecx
  runScratch(cpu, hooks, [0x31, 0xc9, 0xf7, 0xf1], () => {});
  const exception = find(tail, tail + 256, 4, (o) => {
    return quiet[(o - tail) / 4] === -1 && word(o) === 0;
  });
  memory.words()[(at + exception) / 4] = -1;

  let features: FeatureWords | undefined;
  runScratch(cpu, hooks, ASK_FEATURES, () => {
    features = findFeatures(word);
  });
  if (features === undefined) throw strange('CPUID');
  return {
    flags,
    cr2,
    nextRip,
    errorCode: nextRip - 8,
    isInterrupt: nextRip - 4,
    exception,
    leave,
    leaveValue,
    features,
  };
};
