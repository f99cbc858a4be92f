/**
 * Runs of the CPU: starting Unicorn as often as it takes, and making of what it reports the traps of the
 * contract.
 */
import { TraplineError } from '../../base/errors.ts';
import { type Answer, Reg, type Trap, type TrapHandler, type TrapKind } from '../engine.ts';
import { UcError, type UnicornCpu } from './binding.ts';
import { BlockHook, type BlockParts, type BlockTraps, NO_LIMIT } from './block-hook.ts';
import { type GuestMemory, USER_END } from './memory.ts';
import { TF, type UnicornRegisters } from './registers.ts';
import type { CpuState } from './state.ts';
import { Step } from './step.ts';
import {
  definedAt,
  endOfInt6,
  faultFacts,
  lengthAt,
  protectionKind,
  TRAP_OF_VECTOR,
  textAt,
} from './traps.ts';
import { NOWHERE } from './user-mode.ts';

const INT3 = 0xcc;
const SYSCALL_LENGTH = 2n;
const FAULTS: ReadonlySet<TrapKind> = new Set<TrapKind>([
  'page-fault',
  'general-protection',
  'stack-fault',
  'invalid-opcode',
  'divide-error',
  'fpu-error',
  'simd-error',
  'unsupported',
]);

export class Execution implements BlockTraps {
  readonly blockHook: BlockHook;
  /** The engine is unusable: closed, or broken down. */
  dead = false;
  /** For messages. */
  private readonly name: string;
  private readonly cpu: UnicornCpu;
  private readonly state: CpuState;
  private readonly memory: GuestMemory;
  private readonly regs: UnicornRegisters;
  private readonly flush: () => void;
  private readonly trap: Trap = {
    kind: 'int3',
    vector: 0,
    address: 0n,
    access: 'read',
    mapped: false,
    text: '',
  };
  private handler: TrapHandler | undefined;
  /** `run` is to return. */
  private stopped = false;
  /** Unicorn has been stopped only to be started again at this address. */
  private restartAt: bigint | undefined;
  private step_: Step | undefined;
  /** Single steps of our own, while RIP is between the two. */
  private walking: { readonly from: number; readonly until: number } | undefined;
  /** What the handler threw; it must not unwind through Unicorn. */
  private thrown: { readonly error: unknown } | undefined;
  private budget = NO_LIMIT;
  private falseStepAt = -1;

  /** @param flush makes the CPU forget the addresses it has translated */
  constructor(name: string, parts: BlockParts, flush: () => void) {
    this.name = name;
    this.cpu = parts.cpu;
    this.state = parts.state;
    this.memory = parts.memory;
    this.regs = parts.regs;
    this.flush = flush;
    this.blockHook = new BlockHook(parts, this);
  }

  run(onTrap: TrapHandler, instructions: number | undefined): void {
    this.budget = instructions ?? NO_LIMIT;
    this.blockHook.grant(this.budget);
    this.execute(onTrap);
  }

  step(onTrap: TrapHandler): void {
    const step = new Step(this.state, this.regs, this.memory);
    this.blockHook.grant(NO_LIMIT);
    this.step_ = step;
    try {
      this.execute(onTrap);
    } finally {
      this.step_ = undefined;
      step.end();
    }
  }

  private execute(onTrap: TrapHandler): void {
    this.handler = onTrap;
    this.stopped = false;
    this.thrown = undefined;
    while (!this.stopped) this.startOnce();
    this.handler = undefined;
    // Set by a hook, which the compiler cannot see.
    const thrown = this.thrown as { readonly error: unknown } | undefined;
    if (thrown !== undefined) throw thrown.error;
  }

  /** One run of Unicorn's, to its end. */
  private startOnce(): void {
    this.restartAt = undefined;
    this.settle();
    const error = this.startUnicorn();
    this.blockHook.uproot();
    this.regs.ripBias = 0n;
    const restartAt = this.restartAt as bigint | undefined;
    if (restartAt !== undefined) this.state.rip = restartAt;
    else if (this.stopped) return;
    else if (error === UcError.invalidInstruction) this.onInvalid();
    else throw this.broken(`ended with error ${error}`);
  }

  private startUnicorn(): number {
    if (this.dead) throw this.broken('is not usable any more');
    // The native library faults by itself when a run ends.
    this.state.forgetException();
    this.blockHook.begin();
    this.blockHook.resume();
    try {
      return this.cpu.start(this.state.rip, NOWHERE);
    } catch (cause) {
      this.dead = true;
      throw this.broken('broke down', cause);
    }
  }

  private broken(what: string, cause?: unknown): TraplineError {
    const rip = this.state.rip;
    const text = textAt(this.memory, rip);
    return new TraplineError(
      'engine-limit',
      `engine ${this.name} ${what} near 0x${rip.toString(16)} (${text})`,
      { hint: 'try another engine', cause: cause instanceof Error ? undefined : cause },
    );
  }

  /** Asks the handler; whatever it changes in registers is in place already. */
  private deliver(kind: TrapKind): Answer {
    this.trap.kind = kind;
    this.endWalk();
    const before = this.step_ === undefined ? 0n : this.state.rip;
    let answer: Answer;
    try {
      answer = this.handler!(this.trap);
    } catch (error) {
      this.thrown = { error };
      answer = 'stop';
    }
    this.settle();
    // A step goes on only when the fault may have been repaired.
    if (this.step_ !== undefined && !(FAULTS.has(kind) && this.state.rip === before))
      answer = 'stop';
    if (answer === 'stop') this.stopped = true;
    else this.blockHook.resume();
    return answer;
  }

  /** Pages that were taken away must be gone before the program goes on. */
  private settle(): void {
    if (!this.memory.stale) return;
    this.memory.stale = false;
    this.flush();
  }

  /** A `syscall` instruction. */
  syscall(): void {
    const { regs, state } = this;
    regs.ripBias = SYSCALL_LENGTH;
    const flags = regs.read(Reg.Rflags);
    state.set(Reg.Rcx, state.rip + SYSCALL_LENGTH);
    state.set(Reg.R11, flags);
    regs.flagsWritten = false;
    const answer = this.deliver('syscall');
    if (regs.flagsWritten) this.falseStepAt = this.falseStep(flags);
    if (answer === 'stop') this.cpu.stop();
    else regs.ripBias = 0n;
  }

  /**
   * The step of a `syscall` ends with a debug trap when TF was set before and is after. 1.0 looks only at the
   * one, 2.0 at the other; answers the instruction count at which theirs would be wrong.
   */
  private falseStep(flagsBefore: bigint): number {
    const stays = this.state.trapFlag && (flagsBefore & TF) !== 0n;
    return stays ? -1 : this.blockHook.count;
  }

  /** An exception or interrupt number. */
  interrupt(vector: number): void {
    if (this.blockHook.uproot()) return;
    if (vector === 3 || this.state.isSoftware) {
      this.finish(this.softwareKind(vector));
      return;
    }
    this.state.forgetException();
    if (vector === 1) this.onDebug();
    else {
      this.blockHook.leftAt(this.state.rip);
      const kind = TRAP_OF_VECTOR[vector];
      if (kind === undefined) this.finishInterrupt(vector);
      else if (kind === 'page-fault') this.onPageFault();
      else if (kind === 'general-protection') this.finish(protectionKind(this.memory, this.regs));
      else this.finish(kind);
    }
  }

  private finish(kind: TrapKind): void {
    if (this.deliver(kind) === 'stop') this.cpu.stop();
  }

  private softwareKind(vector: number): TrapKind {
    this.trap.vector = vector;
    const int3 = vector === 3 && this.memory.byteAt(Number(this.state.rip) - 1) === INT3;
    return int3 ? 'int3' : 'interrupt';
  }

  private finishInterrupt(vector: number): void {
    this.trap.vector = vector;
    this.finish('interrupt');
  }

  private onDebug(): void {
    if (this.falseStepAt === this.blockHook.count) return;
    if (this.walking !== undefined) {
      const at = Number(this.state.rip);
      if (at >= this.walking.until || at <= this.walking.from) this.endWalk();
    } else if (this.step_ !== undefined && this.regs.hideTrapFlag) {
      this.step_.done = true;
      this.stopped = true;
      this.cpu.stop();
    } else this.finish('debug');
  }

  private onPageFault(): void {
    const { memory, regs, state, trap } = this;
    const { access, address } = faultFacts(memory, regs, state);
    if (access === 'exec' && address !== state.rip) {
      const next = state.rip + BigInt(lengthAt(memory, state.rip));
      // Unicorn fetches a whole block before it runs the first instruction.
      if (next !== state.rip && next <= address) {
        this.walk(Number(state.rip), Number(next));
        return;
      }
    }
    trap.access = access;
    trap.address = address;
    trap.mapped = address < BigInt(USER_END) && memory.protAt(Number(address)) !== undefined;
    this.finish('page-fault');
  }

  /** Unicorn's run is over: an instruction that it does not know, or `int 6`, which it takes for one. */
  private onInvalid(): void {
    const { memory, state, trap } = this;
    const end = endOfInt6(memory, state);
    if (end !== undefined) {
      state.rip = end;
      trap.vector = 6;
      this.deliver('interrupt');
      return;
    }
    this.blockHook.leftAt(state.rip);
    trap.text = textAt(memory, state.rip);
    this.deliver(definedAt(memory, state.rip) ? 'unsupported' : 'invalid-opcode');
  }

  atBlock(kind: TrapKind, address: number, text: string, missing: number): void {
    const { state, trap } = this;
    state.rip = BigInt(address);
    trap.text = text;
    if (kind === 'page-fault') {
      trap.address = BigInt(missing);
      trap.access = text === 'write' || text === 'read' ? text : 'exec';
      trap.mapped = this.memory.protAt(missing) !== undefined;
    }
    if (kind === 'debug') state.rip += 1n; // int1 traps behind itself
    this.deliver(kind);
    if (kind === 'budget') this.blockHook.grant(this.budget);
    this.restartAt = state.rip;
    this.cpu.stop();
  }

  walk(from: number, until: number): void {
    if (this.state.trapFlag) return;
    this.walking = { from, until };
    this.regs.hideTrapFlag = true;
    this.state.trapFlag = true;
  }

  stepped(rip: number): void {
    this.state.rip = BigInt(rip);
    this.onDebug();
    this.restartAt = this.state.rip;
    this.cpu.stop();
  }

  private endWalk(): void {
    if (this.walking === undefined) return;
    this.walking = undefined;
    this.regs.hideTrapFlag = false;
    this.state.trapFlag = false;
  }
}
