import { ALWAYS } from './flags-word.ts';
import { HOST_ROUTINES, type HostContext } from './host-routines.ts';
import { Exit, How, RECORD, STATE } from './layout.ts';
import { isKernel, USER_END } from './memory/fault.ts';
import { GuestMemory } from './memory/guest-memory.ts';
import { Blocks } from './tier0/blocks.ts';
import type { Tier0Code } from './tier0/module.ts';
import { instantiate } from './wasm/host.ts';

/** How a stretch of execution ended; RIP stands as `Trap` wants it. */
export type Ending = (typeof Exit)[
  | 'Fault'
  | 'Budget'
  | 'StepEnd'
  | 'Next'
  | 'Int3'
  | 'Int1'
  | 'Interrupt'
  | 'Syscall'
  | 'GeneralProtection'
  | 'InvalidOpcode'
  | 'DivideError'
  | 'Unsupported'
  | 'FpuError'
  | 'SimdError'];

/** Endings after which RIP is behind the instruction, which counts. */
const BEHIND: ReadonlySet<number> = new Set([
  Exit.Next,
  Exit.Int3,
  Exit.Int1,
  Exit.Interrupt,
  Exit.Syscall,
]);

/** State and memory of one CPU, and execution up to the next thing somebody else must see to. */
export class Processor {
  readonly blocks: Blocks;
  readonly memory: GuestMemory;
  readonly #run: (record: number) => number;
  /** Instructions executed since creation. */
  executed = 0;

  constructor(code: Tier0Code) {
    this.blocks = new Blocks((watcher) => new GuestMemory(watcher), code);
    this.memory = this.blocks.memory;
    const context: HostContext = { memory: this.memory, ticks: () => BigInt(this.executed) };
    const routines = code.routines.map((name) => HOST_ROUTINES[name] ?? missing(name));
    const { run } = instantiate(code.module, {
      m: this.memory.frames.memory,
      slow: (record: number, address: bigint, how: number) => this.#slow(record, address, how),
      commit: () => this.memory.commit(),
      host: (_record: number, routine: number) => routines[routine]!(context),
    });
    this.#run = run as (record: number) => number;
    this.#reset();
  }

  /** As execve(2) leaves a CPU: FCW 0x37F, MXCSR 0x1F80, the selectors of 64-bit Linux. */
  #reset(): void {
    const { view } = this.memory.frames;
    view.setUint16(STATE.fcw, 0x37f, true);
    view.setUint32(STATE.mxcsr, 0x1f80, true);
    view.setUint16(STATE.selectors + 2, 0x33, true);
    view.setUint16(STATE.selectors + 4, 0x2b, true);
    view.setUint32(STATE.control, ALWAYS, true);
    // no flag is set
    view.setUint32(STATE.result, 256, true);
    view.setUint32(STATE.carries, 1 << 8, true);
  }

  #slow(record: number, address: bigint, how: number): number {
    const { view } = this.memory.frames;
    const stack = (how & How.stack) !== 0 || view.getUint8(record + RECORD.stack) !== 0;
    const at = this.memory.access(address, how, stack);
    if (at === 0) view.setInt32(STATE.record, record, true);
    return at;
  }

  get rip(): bigint {
    return this.memory.frames.view.getBigUint64(STATE.rip, true);
  }

  /** The immediate of the instruction that the last ending came from: INT's vector. */
  get immediate(): number {
    const { view } = this.memory.frames;
    return view.getInt32(view.getInt32(STATE.record, true) + RECORD.immediate, true);
  }

  /**
   * Executes from RIP until something has to be seen to, or until at least `allowance` instructions are done.
   * @param single exactly one instruction, or one iteration of it
   */
  go(allowance: number, single: boolean): Ending {
    const { view } = this.memory.frames;
    view.setBigInt64(STATE.remaining, BigInt(allowance - 1), true);
    try {
      return this.#go(single);
    } finally {
      const left = Number(this.memory.frames.view.getBigInt64(STATE.remaining, true));
      this.executed += allowance - 1 - left;
    }
  }

  #go(single: boolean): Ending {
    this.blocks.trim();
    let record = this.#find(this.rip, single);
    while (record !== 0) {
      const exit = this.#run(record);
      if (exit === Exit.Resolve) record = this.#resolve();
      else if (exit === Exit.Indirect) record = this.#indirect();
      else return this.#ended(exit);
      if (record < 0) return Exit.Budget;
    }
    return this.#lost();
  }

  /** 0 = RIP leads nowhere. */
  #find(rip: bigint, single: boolean): number {
    return rip < USER_END ? this.blocks.find(Number(rip), single) : 0;
  }

  /** RIP cannot be fetched from. */
  #lost(): Ending {
    const { rip } = this;
    if (rip < USER_END) return Exit.Fault;
    if (!isKernel(rip)) return Exit.GeneralProtection;
    Object.assign(this.memory.fault, {
      kind: 'page-fault',
      address: rip,
      access: 'exec',
      mapped: false,
    });
    return Exit.Fault;
  }

  /** Counts what a block has done and answers what is left. */
  #count(instructions: number): bigint {
    const { view } = this.memory.frames;
    const left = view.getBigInt64(STATE.remaining, true) - BigInt(instructions);
    view.setBigInt64(STATE.remaining, left, true);
    return left;
  }

  /** RIP of a record, plus `behind`. */
  #setRip(record: number, behind: number): void {
    const { view } = this.memory.frames;
    view.setBigInt64(STATE.rip, view.getBigInt64(record + RECORD.ip, true) + BigInt(behind), true);
  }

  /** Decodes what a record stands for; below 0 = the budget is used up. */
  #resolve(): number {
    const { view } = this.memory.frames;
    const record = view.getInt32(STATE.record, true);
    const left = this.#count(view.getUint8(record + RECORD.place));
    this.#setRip(record, 0);
    if (left < 0n) return -1;
    const target = this.#find(this.rip, false);
    if (target !== 0) this.blocks.link(record, target);
    return target;
  }

  #indirect(): number {
    const { rip } = this;
    if (this.memory.frames.view.getBigInt64(STATE.remaining, true) < 0n) return -1;
    const target = this.#find(rip, false);
    if (target !== 0) this.blocks.rememberJump(Number(rip), target);
    return target;
  }

  #ended(exit: number): Ending {
    const { view } = this.memory.frames;
    const record = view.getInt32(STATE.record, true);
    if (exit === Exit.Budget) {
      this.#setRip(record, 0);
      return exit;
    }
    const behind = BEHIND.has(exit);
    this.#count(view.getUint8(record + RECORD.place) + (behind ? 1 : 0));
    this.#setRip(record, behind ? view.getUint8(record + RECORD.length) : 0);
    return exit === Exit.Iteration ? Exit.Budget : (exit as Ending);
  }

  /** The instruction at RIP, as text. */
  get text(): string {
    return this.blocks.textAt(Number(this.rip));
  }

  /** Copy of the CPU's state without memory. */
  saveState(): Uint8Array {
    return this.memory.frames.bytes.slice(0, STATE.end);
  }

  loadState(state: Uint8Array): void {
    this.memory.frames.bytes.set(state);
  }
}

const missing = (name: string): never => {
  throw new Error(`no host routine ${name}`);
};
