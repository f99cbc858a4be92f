import { PAGE_SIZE } from '../../base/bytes.ts';
import { TraplineError } from '../../base/errors.ts';
import type {
  Capabilities,
  CpuContext,
  Engine,
  EngineSnapshot,
  RunLimits,
  TrapHandler,
} from '../engine.ts';
import type { Hooks, UnicornCpu, UnicornLibrary } from './binding.ts';
import { BlockTable } from './block-table.ts';
import { Blocks } from './blocks.ts';
import { loadContext, saveContext } from './context.ts';
import { correctFeatures } from './cpuid-features.ts';
import { Execution } from './execution.ts';
import type { Quirks } from './inspect.ts';
import { findRegisters, type Layout, learnLayout } from './layout.ts';
import { GuestMemory, USER_END } from './memory.ts';
import { PageTables } from './page-tables.ts';
import { UnicornRegisters } from './registers.ts';
import { copyPages, restorePages, type Snapshot } from './snapshot.ts';
import { CpuState } from './state.ts';
import { enterUserMode } from './user-mode.ts';

/** A library with what is known of it; shared by the engines made from it. */
export interface UnicornKind {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly library: UnicornLibrary;
  readonly quirks: Quirks;
  /** Learned from the first CPU. */
  layout: Layout | undefined;
}

export class UnicornEngine implements Engine {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly regs: UnicornRegisters;

  private readonly cpu: UnicornCpu;
  private readonly memory: GuestMemory;
  private readonly blocks: Blocks;
  private readonly execution: Execution;
  /** Memory is as in this snapshot but for dirty pages. */
  private baseline: EngineSnapshot | undefined;

  constructor(kind: UnicornKind) {
    this.name = kind.name;
    this.capabilities = kind.capabilities;
    const hooks: Hooks = {
      interrupt: () => {},
      syscall: () => {},
      block: () => {},
      fetch: () => {},
      regionMissing: () => false,
    };
    const table = new BlockTable();
    const cpu = kind.library.open(hooks, table.bytes);
    this.cpu = cpu;
    kind.layout ??= learnLayout(cpu, hooks);
    const registers = findRegisters(cpu);
    const state = new CpuState(registers.memory, registers.at, kind.layout);
    correctFeatures(registers.memory.words(), registers.at / 4, kind.layout.features);
    const tables = new PageTables(cpu);
    const regs = new UnicornRegisters(cpu, state);
    const memory = new GuestMemory(cpu, tables);
    const blocks = new Blocks(memory, kind.quirks, table);
    const flush = enterUserMode(cpu, tables);
    state.forgetException();
    const parts = { cpu, state, memory, blocks, table, regs, quirks: kind.quirks };
    this.execution = new Execution(kind.name, parts, flush);
    this.regs = regs;
    this.memory = memory;
    this.blocks = blocks;
    listen(hooks, this.execution, memory);
  }

  get instructionCount(): number {
    return this.execution.blockHook.count;
  }

  map(address: bigint, size: bigint, prot: number): void {
    this.memory.map(...range(address, size), prot);
  }

  unmap(address: bigint, size: bigint): void {
    const [start, length] = range(address, size);
    this.forget(start, length);
    this.memory.unmap(start, length);
  }

  protect(address: bigint, size: bigint, prot: number): void {
    const [start, length] = range(address, size);
    this.forget(start, length);
    this.memory.protect(start, length, prot);
  }

  peek(address: bigint, into: Uint8Array): void {
    this.memory.read(Number(address), into);
  }

  poke(address: bigint, bytes: Uint8Array): void {
    const at = Number(address);
    if (!this.memory.write(at, bytes)) return;
    this.memory.markDirty(at, bytes.length);
    this.forget(at, bytes.length);
  }

  run(onTrap: TrapHandler, limits: RunLimits = {}): void {
    this.execution.run(onTrap, limits.instructions);
  }

  step(onTrap: TrapHandler): void {
    this.execution.step(onTrap);
  }

  saveContext(): CpuContext {
    return saveContext(this.name, this.regs);
  }

  loadContext(context: CpuContext): void {
    loadContext(context, this.regs);
  }

  capture(): EngineSnapshot {
    const snapshot: Snapshot = {
      engine: this.name,
      context: this.saveContext(),
      instructions: this.instructionCount,
      pages: copyPages(this.memory),
    };
    this.baseline = snapshot;
    return snapshot;
  }

  restore(snapshot: EngineSnapshot): void {
    const { context, instructions, pages } = snapshot as Snapshot;
    restorePages(this.memory, pages, snapshot === this.baseline, (page) =>
      this.forget(page, Number(PAGE_SIZE)),
    );
    this.baseline = snapshot;
    this.loadContext(context);
    this.execution.blockHook.count = instructions;
  }

  dispose(): void {
    this.cpu.close();
    this.execution.dead = true;
  }

  /** Code in this range is about to change or go, or just has. */
  private forget(start: number, size: number): void {
    const stale = this.blocks.forget(start, size);
    if (stale !== null) this.cpu.forgetCode(stale.start, stale.end - stale.start);
  }
}

/** From now on the hooks are for the guest's code. */
const listen = (hooks: Hooks, execution: Execution, memory: GuestMemory): void => {
  const { blockHook } = execution;
  hooks.interrupt = (vector) => execution.interrupt(vector);
  hooks.syscall = () => execution.syscall();
  hooks.block = (address, size) => blockHook.enter(address, size);
  hooks.fetch = (address, size) => blockHook.fetch(address, size);
  hooks.regionMissing = (address) => memory.backEmpty(pageOf(address));
};

const pageOf = (address: bigint): number => Number(address & ~(PAGE_SIZE - 1n));

const range = (address: bigint, size: bigint): [number, number] => {
  if ((address | size) % PAGE_SIZE !== 0n || address + size > BigInt(USER_END))
    throw new TraplineError(
      'internal',
      `bad range 0x${address.toString(16)}+0x${size.toString(16)}`,
    );
  return [Number(address), Number(size)];
};
