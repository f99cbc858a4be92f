/** What each trap of the CPU becomes: resolved, swallowed by a hook, or a signal. */

import { SiCode, Sig } from '../abi/signals.ts';
import { Flag, NEAR_RETURN, PageFaultCode, Vector } from '../abi/traps.ts';
import { u64 } from '../base/bytes.ts';
import { Reg, type Trap, type TrapKind } from '../cpu/engine.ts';
import { TASK_SIZE } from '../memory/address-space.ts';
import type { HookList } from './hook-list.ts';
import { fpeCode } from './signals/fpu.ts';
import { forceSignal } from './signals/send.ts';
import type { SignalInfo } from './signals/siginfo.ts';
import type { Task } from './task.ts';

/** What traps need of the kernel. */
export interface TrapServices {
  readonly hooks: HookList;
  log(line: string): void;
}

/** Preconditions: the task is current. */
type TrapRoutine = (kernel: TrapServices, task: Task, trap: Trap) => void;

/** Where a signal comes from: what the frame's trapno and err will say. */
interface Source {
  readonly vector: bigint;
  readonly error?: bigint;
  /** Faults push EFLAGS.RF set, traps do not (SDM vol. 3, 18.3.1.1). */
  readonly isFault: boolean;
}

const raise = (kernel: TrapServices, task: Task, source: Source, info: SignalInfo): void => {
  task.trapNumber = source.vector;
  task.errorCode = source.error ?? 0n;
  task.resumeFlag = source.isFault ? Flag.RF : 0n;
  kernel.hooks.faultSignal(task, info);
  forceSignal(task, info);
};

/** A signal of which the program learns no more than that the kernel sent it. */
const raiseBare = (kernel: TrapServices, task: Task, source: Source, signal: number): void =>
  raise(kernel, task, source, { signal, code: SiCode.SI_KERNEL, address: 0n });

const ipOf = (task: Task): bigint => task.regs.read(Reg.Rip);

const breakpoint: TrapRoutine = (kernel, task) => {
  if (kernel.hooks.breakpoint(task)) return;
  raiseBare(kernel, task, { vector: Vector.Breakpoint, isFault: false }, Sig.SIGTRAP);
};

const debug: TrapRoutine = (kernel, task) => {
  if (kernel.hooks.debugTrap(task)) return;
  const code = isInt1(task) ? SiCode.TRAP_BRKPT : SiCode.TRAP_TRACE;
  const info = { signal: Sig.SIGTRAP, code, address: ipOf(task) };
  raise(kernel, task, { vector: Vector.Debug, isFault: false }, info);
};

/**
 * `int1` (F1) is a debug trap without TF. An instruction that has cleared TF traps without it too,
 * but no such instruction ends in F1.
 */
const isInt1 = (task: Task): boolean => {
  if (task.regs.trapFlag) return false;
  const last = new Uint8Array(1);
  task.mm.space.readForced(ipOf(task) - 1n, last);
  return last[0] === 0xf1;
};

const OUTCOMES = {
  maperr: { signal: Sig.SIGSEGV, code: SiCode.SEGV_MAPERR },
  accerr: { signal: Sig.SIGSEGV, code: SiCode.SEGV_ACCERR },
  bus: { signal: Sig.SIGBUS, code: SiCode.BUS_ADRERR },
} as const;

const pageFault: TrapRoutine = (kernel, task, trap) => {
  const { address } = trap;
  const outcome = task.mm.space.resolve(address, trap.access);
  if (outcome === 'resolved') return;
  task.cr2 = address;
  const source = { vector: Vector.PageFault, error: pageFaultCode(task, trap), isFault: true };
  raise(kernel, task, source, { ...OUTCOMES[outcome], address });
};

const pageFaultCode = (task: Task, trap: Trap): bigint => {
  let error: bigint = PageFaultCode.User;
  if (trap.access === 'write') error |= PageFaultCode.Write;
  if (trap.access === 'exec') error |= PageFaultCode.InstructionFetch;
  if (isPresent(task, trap)) error |= PageFaultCode.Present;
  return error;
};

/**
 * What the P bit says: a page without rights is not present, and Linux sets the bit for every
 * address of the kernel's half.
 */
const isPresent = (task: Task, { address, mapped }: Trap): boolean =>
  address >= TASK_SIZE || (mapped && task.mm.space.find(address)?.prot !== 0);

const interrupt: TrapRoutine = (kernel, task, trap) => {
  const { vector } = trap;
  if (vector === Number(Vector.Breakpoint)) {
    breakpoint(kernel, task, trap);
    return;
  }
  if (vector === Number(Vector.Overflow)) {
    raiseBare(kernel, task, { vector: Vector.Overflow, isFault: false }, Sig.SIGSEGV);
    return;
  }
  if (vector === LEGACY_SYSCALL)
    kernel.log('int 0x80: there are no 32-bit system calls (CONFIG_IA32_EMULATION=n): SIGSEGV');
  // The gate is closed to user code: #GP at the instruction, its error code the gate's (IDT bit set).
  task.regs.write(Reg.Rip, u64(ipOf(task) - INT_LENGTH));
  const source = { vector: Vector.GeneralProtection, error: BigInt(vector * 8 + 2), isFault: true };
  raiseBare(kernel, task, source, Sig.SIGSEGV);
};
const LEGACY_SYSCALL = 0x80;
const INT_LENGTH = 2n;

/** A fault whose signal names the instruction. */
const atInstruction =
  (vector: bigint, signal: number, code: number): TrapRoutine =>
  (kernel, task) =>
    raise(kernel, task, { vector, isFault: true }, { signal, code, address: ipOf(task) });

/** A fault whose signal names nothing. */
const bare =
  (vector: bigint, signal: number): TrapRoutine =>
  (kernel, task) =>
    raiseBare(kernel, task, { vector, isFault: true }, signal);

const arithmetic =
  (vector: bigint, unit: 'x87' | 'sse'): TrapRoutine =>
  (kernel, task) => {
    const code = fpeCode(task.regs, unit);
    // Nothing unmasked: a spurious interrupt, which Linux ignores.
    if (code === 0) return;
    const info = { signal: Sig.SIGFPE, code, address: ipOf(task) };
    raise(kernel, task, { vector, isFault: true }, info);
  };

const controlProtection: TrapRoutine = (kernel, task) => {
  const source = { vector: Vector.ControlProtection, error: NEAR_RETURN, isFault: true };
  raise(kernel, task, source, { signal: Sig.SIGSEGV, code: SiCode.SEGV_CPERR, address: 0n });
};

/** Traps that concern the task; the others end the slice or are system calls. */
export type TaskTrapKind = Exclude<TrapKind, 'syscall' | 'unsupported' | 'budget'>;

export const TRAP_ROUTINES: Readonly<Record<TaskTrapKind, TrapRoutine>> = {
  int3: breakpoint,
  debug,
  interrupt,
  'page-fault': pageFault,
  'general-protection': bare(Vector.GeneralProtection, Sig.SIGSEGV),
  'stack-fault': bare(Vector.StackFault, Sig.SIGBUS),
  'invalid-opcode': atInstruction(Vector.InvalidOpcode, Sig.SIGILL, SiCode.ILL_ILLOPN),
  'divide-error': atInstruction(Vector.DivideError, Sig.SIGFPE, SiCode.FPE_INTDIV),
  'control-protection': controlProtection,
  'fpu-error': arithmetic(Vector.FpuError, 'x87'),
  'simd-error': arithmetic(Vector.SimdError, 'sse'),
};
