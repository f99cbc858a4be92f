/**
 * The unprobed run with somebody looking: breakpoints as a debugger sets them, calling the case's handlers where
 * uprobes should. It shares no code with uprobes; what it says about hits is what should be seen.
 */
import { Flag } from '../../abi/traps.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { FuzzCase } from '../case.ts';
import type { Guest, Watcher } from '../guest/guest.ts';
import { TEXT } from '../guest/layout.ts';
import type { Outcome } from '../guest/outcome.ts';
import type { HitLog } from './hits.ts';
import { lengthIfShowsTf } from './shows-tf.ts';

/** An instruction that runs in place. */
interface Step {
  readonly site: bigint;
  /** Where the breakpoint behind it is; null when TF ends it. */
  readonly next: bigint | null;
  /** The breakpoint was not there before. */
  readonly planted: boolean;
  /** The program steps itself. */
  readonly userTf: boolean;
}

/** A function with a return handler that has not returned yet. */
interface Pending {
  /** Probes of the site: one uprobe, however many there are. */
  readonly probes: readonly number[];
  /** sp at entry. */
  readonly stack: bigint;
  readonly returnTo: bigint;
}

/** Pending returns a task may have (include/linux/uprobes.h: MAX_URETPROBE_DEPTH). */
const DEPTH = 64;
const INT3 = Uint8Array.of(0xcc);

export interface DebuggerOptions {
  /** Address that functions with a return handler find in place of their return address. */
  readonly returnTo?: bigint;
}

export class Debugger implements Watcher {
  readonly #returnTo: bigint | null;
  readonly #guest: Guest;
  readonly #test: FuzzCase;
  readonly #log: HitLog;
  readonly #entry: bigint;
  /** Address, and the byte that belongs there. */
  readonly #planted = new Map<bigint, Uint8Array>();
  readonly #pending: Pending[] = [];
  /** The instruction at `site` runs in place, with TF set or up to a breakpoint at `next`. */
  #step: Step | null = null;

  constructor(guest: Guest, test: FuzzCase, log: HitLog, { returnTo }: DebuggerOptions = {}) {
    this.#returnTo = returnTo ?? null;
    this.#guest = guest;
    this.#test = test;
    this.#log = log;
    this.#entry = TEXT.start + BigInt(test.at);
  }

  /** Preconditions: no probe is attached. */
  run(): Outcome {
    const guest = this.#guest;
    for (const { site } of this.#test.probes) this.#plant(this.#entry + BigInt(site));
    if (this.#returnTo !== null) this.#plant(this.#returnTo);
    guest.watcher = this;
    try {
      return guest.call(this.#test);
    } finally {
      guest.watcher = null;
      for (const [at, byte] of this.#planted) guest.mm.engine.poke(at, byte);
    }
  }

  /** An int3; true when it is one of ours. ip is behind it. */
  breakpoint(task: Task, at: bigint): boolean {
    if (!this.#planted.has(at)) return false;
    task.regs.write(Reg.Rip, at);
    if (this.#step?.next === at) this.#endStep(task);
    if (at === this.#returnTo) this.#dropStale(task.regs.read(Reg.Rsp));
    const newest = this.#pending.at(-1);
    if (at === this.#returnTo && newest !== undefined) {
      task.regs.write(Reg.Rip, newest.returnTo);
      this.returned(task);
      return true;
    }
    this.returned(task);
    const probes = this.#test.probes.flatMap(({ site }, probe) =>
      this.#entry + BigInt(site) === at ? [probe] : [],
    );
    if (probes.length > 0) this.#enter(task, probes);
    if (task.regs.read(Reg.Rip) === at && this.#planted.has(at)) this.#stepFrom(task, at);
    return true;
  }

  debugTrap(task: Task): boolean {
    if (this.#step === null || this.#step.next !== null) return false;
    const { userTf } = this.#step;
    this.#endStep(task);
    return !userTf;
  }

  /** The stepped instruction faults. */
  faultSignal(task: Task): void {
    if (this.#step !== null) this.#endStep(task);
  }

  #plant(at: bigint): void {
    if (this.#planted.has(at)) return;
    const { engine } = this.#guest.mm;
    const byte = new Uint8Array(1);
    engine.peek(at, byte);
    this.#planted.set(at, byte);
    engine.poke(at, INT3);
  }

  /** Frames below the one that returns were left without returning. */
  #dropStale(sp: bigint): void {
    for (;;) {
      const [older, newest] = this.#pending.slice(-2);
      if (older === undefined || newest === undefined) return;
      if (older.stack >= sp || older.stack === newest.stack) return;
      this.#pending.pop();
    }
  }

  /** Calls the handlers, newest first. */
  #handle(task: Task, probes: readonly number[], on: 'entry' | 'return'): void {
    const other = on === 'entry' ? 'return' : 'entry';
    for (const probe of [...probes].reverse())
      for (const [consumer, does] of [...this.#test.probes[probe]!.consumers.entries()].reverse())
        if (does.kind !== other)
          this.#log.record({ probe, consumer, does }, on, task.regs, this.#entry);
  }

  #enter(task: Task, probes: readonly number[]): void {
    const { regs, mm } = task;
    const returns = probes.some((probe) =>
      this.#test.probes[probe]!.consumers.some(({ kind }) => kind !== 'entry'),
    );
    this.#handle(task, probes, 'entry');
    const stack = regs.read(Reg.Rsp);
    if (!returns || this.#pending.length >= DEPTH) return;
    const word = mm.space.readU64(stack);
    if (word === undefined) return;
    const chained = word === this.#returnTo;
    const returnTo = chained ? (this.#pending.at(-1)?.returnTo ?? word) : word;
    if (this.#returnTo !== null) mm.space.writeU64(stack, this.#returnTo);
    while ((this.#pending.at(-1)?.stack ?? stack) < stack) this.#pending.pop();
    this.#pending.push({ probes, stack, returnTo });
    if (this.#returnTo === null && returnTo >= TEXT.start && returnTo < TEXT.start + 0x2000n)
      this.#plant(returnTo);
  }

  /** ip may be where a pending function returns to: its handlers, newest function first. */
  returned(task: Task): void {
    const { regs } = task;
    for (;;) {
      const newest = this.#pending.at(-1);
      if (newest === undefined || newest.stack >= regs.read(Reg.Rsp)) return;
      const returned = newest.returnTo === regs.read(Reg.Rip);
      this.#pending.pop();
      if (returned) this.#handle(task, newest.probes, 'return');
    }
  }

  /** Executes the instruction at `at` in place. */
  #stepFrom(task: Task, at: bigint): void {
    const { engine } = this.#guest.mm;
    engine.poke(at, this.#planted.get(at)!);
    const length = lengthIfShowsTf(this.#guest.mm, at);
    if (length === null) {
      const flags = task.regs.read(Reg.Rflags);
      this.#step = { site: at, next: null, planted: false, userTf: (flags & Flag.TF) !== 0n };
      task.regs.write(Reg.Rflags, flags | Flag.TF);
      return;
    }
    const next = at + length;
    this.#step = { site: at, next, planted: !this.#planted.has(next), userTf: false };
    this.#plant(next);
  }

  #endStep(task: Task): void {
    const { site, next, planted, userTf } = this.#step!;
    this.#step = null;
    const { engine } = this.#guest.mm;
    engine.poke(site, INT3);
    if (next === null && userTf) return;
    if (next === null) {
      task.regs.write(Reg.Rflags, task.regs.read(Reg.Rflags) & ~Flag.TF);
    } else if (planted) {
      engine.poke(next, this.#planted.get(next)!);
      this.#planted.delete(next);
    }
  }
}
