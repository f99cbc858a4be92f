import { TraplineError } from '../../base/errors.ts';
import type {
  Access,
  Capabilities,
  CpuContext,
  Engine,
  EngineSnapshot,
  RunLimits,
  Trap,
  TrapHandler,
  TrapKind,
} from '../engine.ts';
import { CAPABILITIES } from './capabilities.ts';
import { TF } from './flags-word.ts';
import { Exit, STATE } from './layout.ts';
import type { MemorySnapshot } from './memory/guest-memory.ts';
import { type Ending, Processor } from './processor.ts';
import { Registers } from './registers.ts';
import type { Tier0Code } from './tier0/module.ts';

export const NAME = 'core';

/** More than any run will need; below 2^53. */
const NO_LIMIT = 2 ** 52;

/** Kinds of trap by ending, where the ending alone tells. */
const KINDS: Readonly<Partial<Record<Ending, TrapKind>>> = {
  [Exit.Int3]: 'int3',
  [Exit.Int1]: 'debug',
  [Exit.Interrupt]: 'interrupt',
  [Exit.Syscall]: 'syscall',
  [Exit.GeneralProtection]: 'general-protection',
  [Exit.InvalidOpcode]: 'invalid-opcode',
  [Exit.DivideError]: 'divide-error',
  [Exit.Unsupported]: 'unsupported',
  [Exit.FpuError]: 'fpu-error',
  [Exit.SimdError]: 'simd-error',
};

/** Endings that are no traps. */
const QUIET: ReadonlySet<Ending> = new Set([Exit.Budget, Exit.StepEnd, Exit.Next]);

class CoreTrap implements Trap {
  kind: TrapKind = 'int3';
  vector = 0;
  address = 0n;
  access: Access = 'read';
  mapped = false;
  text = '';
}

interface CoreContext extends CpuContext {
  readonly state: Uint8Array;
}

interface CoreSnapshot extends EngineSnapshot {
  readonly state: Uint8Array;
  readonly memory: MemorySnapshot;
  readonly executed: number;
}

/** Our own CPU: an interpreter in generated WebAssembly over a sparse memory of its own. */
export class CoreEngine implements Engine {
  readonly name = NAME;
  readonly capabilities: Capabilities = CAPABILITIES;
  readonly regs: Registers;
  readonly #cpu: Processor;
  readonly #trap = new CoreTrap();
  #running = false;

  constructor(code: Tier0Code) {
    this.#cpu = new Processor(code);
    this.regs = new Registers(this.#cpu.memory.frames);
  }

  get instructionCount(): number {
    return this.#cpu.executed;
  }

  map(address: bigint, size: bigint, prot: number): void {
    this.#cpu.memory.map(address, size, prot);
  }

  unmap(address: bigint, size: bigint): void {
    this.#cpu.memory.unmap(address, size);
  }

  protect(address: bigint, size: bigint, prot: number): void {
    this.#cpu.memory.protect(address, size, prot);
  }

  peek(address: bigint, into: Uint8Array): void {
    this.#cpu.memory.peek(this.#cpu.memory.require(address, into.length), into);
  }

  poke(address: bigint, bytes: Uint8Array): void {
    this.#cpu.memory.poke(this.#cpu.memory.require(address, bytes.length), bytes);
  }

  run(onTrap: TrapHandler, limits: RunLimits = {}): void {
    this.#exclusively(() => {
      const allowance = limits.instructions ?? NO_LIMIT;
      let left = allowance;
      for (;;) {
        const before = this.#cpu.executed;
        const traced = this.#traced;
        const ending = this.#cpu.go(traced ? 1 : left, traced);
        if (!this.#tell(ending, traced, onTrap)) return;
        left -= this.#cpu.executed - before;
        if (left > 0) continue;
        this.#trap.kind = 'budget';
        if (onTrap(this.#trap) === 'stop') return;
        left = allowance;
      }
    });
  }

  step(onTrap: TrapHandler): void {
    this.#exclusively(() => {
      for (;;) {
        const { rip } = this.#cpu;
        const traced = this.#traced;
        const ending = this.#cpu.go(1, true);
        if (!this.#tell(ending, traced, onTrap)) return;
        // A fault that the handler has repaired where it is: the instruction is still to be done.
        if (ending !== Exit.Fault || this.#cpu.rip !== rip) return;
      }
    });
  }

  #exclusively(run: () => void): void {
    if (this.#running) throw new TraplineError('internal', 'the engine is running already');
    this.#running = true;
    try {
      run();
    } finally {
      this.#running = false;
    }
  }

  get #traced(): boolean {
    return ((this.#cpu.memory.frames.words[STATE.control >> 2] ?? 0) & TF) !== 0;
  }

  /** Hands over what an ending comes to. False = the handler stops the run. */
  #tell(ending: Ending, traced: boolean, onTrap: TrapHandler): boolean {
    if (!QUIET.has(ending)) {
      this.#describe(ending);
      if (onTrap(this.#trap) === 'stop') return false;
      // Of the traps only SYSCALL is followed by the single-step trap, if TF is still set.
      if (ending !== Exit.Syscall || !traced || !this.#traced) return true;
    }
    if (!traced) return true;
    this.#trap.kind = 'debug';
    return onTrap(this.#trap) === 'go';
  }

  #describe(ending: Ending): void {
    const trap = this.#trap;
    if (ending === Exit.Fault) {
      const { kind, address, access, mapped } = this.#cpu.memory.fault;
      trap.kind = kind;
      trap.address = address;
      trap.access = access;
      trap.mapped = mapped;
      return;
    }
    trap.kind = KINDS[ending] ?? 'invalid-opcode';
    if (ending === Exit.Interrupt) trap.vector = this.#cpu.immediate & 0xff;
    if (ending === Exit.Unsupported) trap.text = this.#cpu.text;
  }

  saveContext(): CpuContext {
    const context: CoreContext = { engine: NAME, state: this.#cpu.saveState() };
    return context;
  }

  loadContext(context: CpuContext): void {
    this.#cpu.loadState((context as CoreContext).state);
  }

  capture(): EngineSnapshot {
    const snapshot: CoreSnapshot = {
      engine: NAME,
      state: this.#cpu.saveState(),
      memory: this.#cpu.memory.capture(),
      executed: this.#cpu.executed,
    };
    return snapshot;
  }

  restore(snapshot: EngineSnapshot): void {
    const { state, memory, executed } = snapshot as CoreSnapshot;
    this.#cpu.memory.restore(memory);
    this.#cpu.loadState(state);
    this.#cpu.executed = executed;
  }

  dispose(): void {}
}
