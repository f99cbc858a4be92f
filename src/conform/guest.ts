/** A process that runs one recorded case after the other, each in a process as good as new. */
import { hex } from '../base/bytes.ts';
import { type EngineFactory, Prot, Reg } from '../cpu/engine.ts';
import { catchSignals, createBareProcess } from '../kernel/bare-guest.ts';
import { Kernel } from '../kernel/kernel.ts';
import type { Mm } from '../kernel/mm.ts';
import { SYSCALL_ROWS } from '../kernel/syscalls/rows.ts';
import { RUNNING, type Task } from '../kernel/task.ts';
import { type Profile, Uprobes } from '../uprobes/index.ts';
import type { ExecCase, ExecTable, Recorded } from './exec-table.ts';
import { badTable } from './fields.ts';
import { fxImage } from './fx-image.ts';
import { HANDLER, SIGNAL_STACK, type TextRange, textRange } from './layout.ts';
import { recordedParent } from './parent-id.ts';
import { altOf, changedMemory, registerOf, stateAtCap, stateInFrame } from './state.ts';
import { TextFile } from './text-file.ts';

/** An instruction that the engine lacks, and where it met it. */
export interface Unsupported {
  readonly unsupported: string;
  readonly address: bigint;
}

/** What a run of ours came to. */
export type Outcome = Recorded | Unsupported;

const INT3 = Uint8Array.of(0xcc);
/** Of one run: the longest recorded ones take some hundred. */
const INSTRUCTIONS = 100_000;

export class Guest {
  readonly uprobes: Uprobes;
  readonly text: TextFile;
  readonly mm: Mm;
  readonly #table: ExecTable;
  readonly #kernel: Kernel;
  readonly #task: Task;
  readonly #fresh: { readonly kernel: unknown; readonly uprobes: unknown };
  #stopped: 'cap0' | 'cap1' | 'signal' | null = null;

  constructor(table: ExecTable, factory: EngineFactory, profile: Profile) {
    this.#table = table;
    this.#kernel = new Kernel({ createEngine: () => factory.create(), syscalls: SYSCALL_ROWS });
    this.#kernel.subscribe({ breakpoint: (task) => this.#atEnd(task) });
    this.uprobes = new Uprobes(this.#kernel, profile);
    const range = textRange(table);
    this.text = new TextFile(range, table);
    this.mm = this.#kernel.createMm();
    this.#mapAll(range);
    this.#task = this.#createProcess();
    this.#fresh = { kernel: this.#kernel.capture(), uprobes: this.uprobes.capture() };
  }

  /** A process that has run nothing and met no probe, with the text of this case. */
  renew(test: ExecCase): void {
    this.#kernel.restore(this.#fresh.kernel);
    this.uprobes.restore(this.#fresh.uprobes);
    this.text.hold(test);
  }

  /** Runs the case to its end. Preconditions: {@link renew} was called for it. */
  run(test: ExecCase): Outcome {
    this.#prepare(test);
    this.#stopped = null;
    const end = this.#kernel.runSlice({ instructions: INSTRUCTIONS });
    if (end.kind === 'unsupported') return { unsupported: end.text, address: end.address };
    const { regs } = this.#task;
    const recorded =
      this.#stopped === 'signal'
        ? stateInFrame(regs, this.mm.space)
        : stateAtCap(regs, this.#stopped, this.#table.vectors);
    return { ...recorded, mem: changedMemory(this.mm.space, this.#table.regions, altOf(test)) };
  }

  /** The bytes at an address, for messages. */
  bytesAt(address: bigint): Uint8Array {
    const bytes = new Uint8Array(15);
    return bytes.subarray(0, this.mm.space.readForced(address, bytes));
  }

  dispose(): void {
    this.#kernel.dispose();
  }

  #atEnd(task: Task): boolean {
    const at = task.regs.read(Reg.Rip) - 1n;
    if (at === HANDLER) this.#stopped = 'signal';
    else if (at === BigInt(this.#table.cap0)) this.#stopped = 'cap0';
    else if (at === BigInt(this.#table.cap1)) this.#stopped = 'cap1';
    else return false;
    task.state = { kind: 'stopped', signal: 0 };
    return true;
  }

  #mapAll({ start, end }: TextRange): void {
    const { space } = this.mm;
    const map = (address: bigint, size: bigint, prot: number, file?: TextFile): void => {
      const got = space.map({ address, placement: 'only', size, prot, ...(file && { file }) });
      if (typeof got === 'string')
        throw badTable(
          `memory at ${hex(address)} cannot be had: ${got} (code and regions overlap?)`,
        );
    };
    map(start, end - start, Prot.Read | Prot.Exec, this.text);
    for (const { address, size, prot } of this.#table.regions) map(address, BigInt(size), prot);
    map(HANDLER, 0x1000n, Prot.Read | Prot.Exec);
    space.writeText(HANDLER, INT3);
    map(SIGNAL_STACK.start, SIGNAL_STACK.size, Prot.Read | Prot.Write);
  }

  #createProcess(): Task {
    const ppid = recordedParent(this.#table.cases);
    return createBareProcess(this.#kernel, this.mm, {
      exe: this.text,
      comm: 'cases',
      entry: HANDLER,
      brkStart: SIGNAL_STACK.start + 0x10_0000n,
      ...(ppid !== null && { ids: { ppid } }),
    });
  }

  #prepare(test: ExecCase): void {
    const task = this.#task;
    task.state = RUNNING;
    task.blocked = 0n;
    Object.assign(task.altStack, { sp: SIGNAL_STACK.start, size: SIGNAL_STACK.size, flags: 0 });
    catchSignals(task, HANDLER, () => HANDLER);
    this.#fillRegions(altOf(test));
    for (const [name, value] of Object.entries(test.regs))
      task.regs.write(registerOf(name), BigInt(value));
    task.regs.write(Reg.FsBase, SIGNAL_STACK.start);
    task.regs.write(Reg.Rflags, BigInt(this.#table.flags));
    task.regs.write(Reg.Rip, BigInt(test.entry));
    task.regs.writeFx(fxImage(this.#table.vectors));
  }

  #fillRegions(alt: bigint): void {
    const { space } = this.mm;
    for (const { address, size, prot, initial } of this.#table.regions) {
      if (prot === Prot.None) continue;
      space.protect(address, BigInt(size), Prot.Read | Prot.Write);
      space.write(address, initial(alt));
      space.protect(address, BigInt(size), prot);
    }
  }
}
