/**
 * The unprobed run once more, one instruction at a time: an engine that then comes to another result is wrong by
 * itself, and what a probe changes on it says nothing.
 */
import { Flag } from '../../abi/traps.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import type { FuzzCase } from '../case.ts';
import type { Guest, Watcher } from '../guest/guest.ts';
import type { Outcome } from '../guest/outcome.ts';
import { lengthIfShowsTf } from './shows-tf.ts';

const INT3 = Uint8Array.of(0xcc);

class Stepper implements Watcher {
  readonly #guest: Guest;
  /** Planted behind an instruction that must not see TF, and the byte that belongs there. */
  #stop: { readonly at: bigint; readonly byte: Uint8Array } | null = null;

  /** TF is set, and not by the program. */
  #ours = false;
  /** Where the instructions that ran begin. */
  readonly executed = new Set<bigint>();

  constructor(guest: Guest) {
    this.#guest = guest;
  }

  starting(task: Task): void {
    this.#prepare(task);
  }

  breakpoint(task: Task, at: bigint): boolean {
    if (this.#stop?.at !== at) {
      // The program's own: its signal frame must not show our TF.
      if (this.#ours) this.#setTf(task, false);
      return false;
    }
    this.clear();
    task.regs.write(Reg.Rip, at);
    this.#prepare(task);
    return true;
  }

  debugTrap(task: Task): boolean {
    // The program has begun to step itself.
    if (!this.#ours) return false;
    this.#setTf(task, false);
    this.#prepare(task);
    return true;
  }

  faultSignal(task: Task): void {
    if (this.#ours) this.#setTf(task, false);
    this.clear();
  }

  returned(task: Task): void {
    if (this.#ours) this.#setTf(task, false);
  }

  clear(): void {
    if (this.#stop !== null) this.#guest.mm.engine.poke(this.#stop.at, this.#stop.byte);
    this.#stop = null;
  }

  /** Lets the next instruction run. */
  #prepare(task: Task): void {
    const { engine } = this.#guest.mm;
    const at = task.regs.read(Reg.Rip);
    this.executed.add(at);
    const length = lengthIfShowsTf(this.#guest.mm, at);
    this.#ours = length === null && (task.regs.read(Reg.Rflags) & Flag.TF) === 0n;
    if (length === null) {
      this.#setTf(task, true);
      return;
    }
    const byte = new Uint8Array(1);
    engine.peek(at + length, byte);
    engine.poke(at + length, INT3);
    this.#stop = { at: at + length, byte };
  }

  #setTf({ regs }: Task, set: boolean): void {
    const flags = regs.read(Reg.Rflags);
    regs.write(Reg.Rflags, set ? flags | Flag.TF : flags & ~Flag.TF);
  }
}

export interface SteppedRun {
  readonly outcome: Outcome;
  readonly executed: ReadonlySet<bigint>;
}

/** Preconditions: no probe is attached. */
export const steppedRun = (guest: Guest, test: FuzzCase): SteppedRun => {
  const stepper = new Stepper(guest);
  guest.watcher = stepper;
  try {
    return { outcome: guest.call(test), executed: stepper.executed };
  } finally {
    stepper.clear();
    guest.watcher = null;
  }
};
