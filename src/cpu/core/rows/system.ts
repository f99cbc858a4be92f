/** Flags, traps, hints, and what asks about the CPU. */
import { Gpr, type OwnTrap, type Row, type Rows } from '../emit/insn.ts';
import { STATE } from '../layout.ts';
import { bit, extendU, I32, i32, load, wrap } from '../wasm/expr.ts';
import { canonical } from './canonical.ts';

const DF = 1 << 10;

const nothing: Row = () => {};

const trap =
  (kind: OwnTrap): Row =>
  (e) => {
    e.trap(kind);
    e.ends();
  };

const invalid = trap('InvalidOpcode');

const host =
  (routine: string): Row =>
  (e) =>
    e.host(routine);

const direction =
  (down: boolean): Row =>
  (e) => {
    const word = load.i32(i32(0), STATE.control);
    e.body.storeAt(32, STATE.control, down ? I32.or(word, i32(DF)) : I32.and(word, i32(~DF)));
  };

/** LAHF and SAHF: SF ZF 0 AF 0 PF 1 CF in AH. */
const AH = (word: ReturnType<typeof i32>) => I32.or(I32.and(word, i32(0xd5)), i32(2));

const setFlagsFromAh: Row = (e) => {
  const ah = e.body.let(I32.shrU(e.gpr(Gpr.Rax, 16), i32(8)));
  e.flags.set({
    cf: bit(ah, 0),
    pf: bit(ah, 2),
    af: bit(ah, 4),
    zf: bit(ah, 6),
    sf: bit(ah, 7),
  });
};

/** SYSCALL saves RIP and RFLAGS, RF clear, for the kernel to return to. */
const systemCall: Row = (e) => {
  const flags = I32.or(e.flags.pack(), load.i32(i32(0), STATE.control));
  const next = e.body.let(e.nextIp);
  e.setGpr(Gpr.R11, 64, extendU(e.body.let(flags)));
  e.setGpr(Gpr.Rcx, 64, next);
  e.trap('Syscall');
  e.ends();
};

const segmentBase =
  (address: number, write: boolean): Row =>
  (e) => {
    const size = e.size(0) === 64 ? 64 : 32;
    if (!write) {
      const base = load.i64(i32(0), address);
      return e.write(0, size === 64 ? base : wrap(base));
    }
    const value = e.read(0);
    if (size === 32) return e.body.storeAt(64, address, extendU(value));
    e.body.storeAt(64, address, canonical(e, value));
  };

export const SYSTEM: Rows = {
  Nop: nothing,
  Pause: nothing,
  Endbr64: nothing,
  Endbr32: nothing,
  // 0F 0D is PREFETCH; with a register operand AMD's CPUs refuse it, Intel's do not.
  Reservednop: (e) => (/_0F0D$/.test(e.name) && !e.isMemory(0) ? invalid(e) : undefined),
  Prefetchnta: nothing,
  Prefetcht0: nothing,
  Prefetcht1: nothing,
  Prefetcht2: nothing,
  Prefetchw: nothing,
  Prefetch: nothing,
  Prefetchwt1: nothing,
  Prefetchit0: nothing,
  Prefetchit1: nothing,
  ...Object.fromEntries([3, 4, 5, 6, 7].map((n) => [`Prefetchreserved${n}`, nothing])),
  Lfence: nothing,
  Mfence: nothing,
  Sfence: nothing,
  Cldemote: nothing,
  // Without shadow stacks these are no-operations (SDM vol. 2).
  Rdsspd: nothing,
  Rdsspq: nothing,
  Clc: (e) => e.flags.setCarry(i32(0)),
  Stc: (e) => e.flags.setCarry(i32(1)),
  Cmc: (e) => e.flags.setCarry(I32.eqz(e.flags.cf)),
  Cld: direction(false),
  Std: direction(true),
  Lahf: (e) => {
    const low = I32.and(e.gpr(Gpr.Rax, 16), i32(0xff));
    e.setGpr(Gpr.Rax, 16, I32.or(low, I32.shl(AH(e.flags.pack()), i32(8))));
  },
  Sahf: setFlagsFromAh,
  Int3: trap('Int3'),
  Int1: trap('Int1'),
  Int: trap('Interrupt'),
  Ud0: trap('InvalidOpcode'),
  Ud1: trap('InvalidOpcode'),
  Ud2: trap('InvalidOpcode'),
  Syscall: systemCall,
  Cpuid: host('cpuid'),
  Rdtsc: host('rdtsc'),
  Rdfsbase: segmentBase(STATE.fsBase, false),
  Rdgsbase: segmentBase(STATE.gsBase, false),
  Wrfsbase: segmentBase(STATE.fsBase, true),
  Wrgsbase: segmentBase(STATE.gsBase, true),
};
