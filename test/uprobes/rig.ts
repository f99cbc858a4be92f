/** A small process whose text is given as bytes, with uprobes under it: what the tests here run on. */
import { Frame } from '../../src/abi/sigframe.ts';
import { type EngineFactory, Prot, Reg } from '../../src/cpu/engine.ts';
import { ShadowStackEngine } from '../../src/cpu/shadow-stack/engine.ts';
import { catchSignals, createBareProcess, readFrame } from '../../src/kernel/bare-guest.ts';
import { Kernel } from '../../src/kernel/kernel.ts';
import type { Mm } from '../../src/kernel/mm.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import { RUNNING, type Task, type TaskState } from '../../src/kernel/task.ts';
import type { Inode } from '../../src/memory/backing.ts';
import {
  type Consumer,
  findProfile,
  type Handle,
  HandlerResult,
  type Hit,
  type ProfileName,
  Uprobes,
} from '../../src/uprobes/index.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

/** The text file is mapped here, so file offset = address - TEXT. */
export const TEXT = 0x400000n;
/** A return to this address ends {@link Rig.call}. */
export const END = 0x700000n;
const HANDLER = 0x700010n;
/** mov $15,%eax; syscall: rt_sigreturn. */
const SIGRETURN = 0x700020n;
const SIGNAL_STACK = 0x710000n;
export const STACK_TOP = 0x730000n;
const STACK_SIZE = 0x10000n;

const STOPPED: TaskState = { kind: 'stopped', signal: 0 };

/** How a call ended. */
export type Ending =
  | { readonly kind: 'returned' }
  /** The engine has not got an instruction. */
  | { readonly kind: 'unsupported' }
  | {
      readonly kind: 'signal';
      readonly signal: number;
      readonly code: number;
      readonly address: bigint;
      readonly ip: bigint;
      readonly sp: bigint;
      readonly trapNumber: bigint;
      readonly flags: bigint;
    };

export interface RigOptions {
  readonly factory: EngineFactory;
  readonly profile: ProfileName;
  /** Hex (blanks allowed) by address. */
  readonly text: Readonly<Record<string, string>>;
  /** Bytes of the text file; default 16 pages. */
  readonly fileSize?: number;
  /** Do not map the text file yet. */
  readonly unmapped?: boolean;
  /** A CPU with a shadow stack. */
  readonly shadowStack?: boolean;
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.replace(/\s+/g, ''), 'hex'));

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export class Rig {
  readonly kernel: Kernel;
  readonly uprobes: Uprobes;
  readonly file: Inode;
  readonly mm: Mm;
  /** The one that {@link Rig.call} lets run. */
  task: Task;
  /** Kernel log lines. */
  readonly log: string[] = [];
  #ended: 'end' | 'handler' | null = null;

  constructor(options: RigOptions) {
    const { factory, profile, text, fileSize = 0x10000, unmapped, shadowStack } = options;
    this.kernel = new Kernel({
      createEngine: () =>
        shadowStack ? new ShadowStackEngine(factory.create()) : factory.create(),
      syscalls: SYSCALL_ROWS,
      log: (line) => this.log.push(line),
    });
    // Before uprobes, so that the ends of calls are nobody else's breakpoints.
    this.kernel.subscribe({ breakpoint: (task) => this.#atEnd(task) });
    this.uprobes = new Uprobes(this.kernel, findProfile(profile)!);
    const bytes = new Uint8Array(fileSize);
    for (const [address, hex] of Object.entries(text))
      bytes.set(bytesOf(hex), Number(address) - Number(TEXT));
    this.file = memoryInode('/text', bytes);
    this.mm = this.kernel.createMm();
    if (!unmapped) this.map(TEXT, Prot.Read | Prot.Exec);
    this.#mapOwn();
    this.task = this.addTask();
  }

  /** One more process in this mm, as clone(CLONE_VM) makes it; it waits until it is {@link Rig.task}. */
  addTask(): Task {
    const task = createBareProcess(this.kernel, this.mm, {
      exe: this.file,
      comm: 'rig',
      entry: END,
      brkStart: 0x800000n,
      stackPointer: STACK_TOP,
    });
    task.state = STOPPED;
    return task;
  }

  /** Maps the whole text file once more. */
  map(
    address: bigint,
    prot: number,
    options: { readonly shared?: boolean; readonly mayExec?: boolean } = {},
  ): void {
    const size = (this.file.size + 4095n) & ~4095n;
    const result = this.mm.space.map({
      address,
      placement: 'only',
      size,
      prot,
      file: this.file,
      ...options,
    });
    if (typeof result === 'string') throw new Error(result);
  }

  /** Attaches at an address of the first mapping; throws on refusal. */
  attach(address: bigint, consumer: Consumer, options: { refCtrOffset?: bigint } = {}): Handle {
    const handle = this.uprobes.register(this.file, address - TEXT, consumer, options);
    if (typeof handle === 'string') throw new Error(handle);
    return handle;
  }

  /** Attaches a consumer that writes `name` (and `name:ret`) into a list. */
  trace(address: bigint, name: string, list: string[], kind: 'entry' | 'return' | 'both'): Handle {
    const entry = (): HandlerResult => {
      list.push(name);
      return HandlerResult.Continue;
    };
    return this.attach(address, {
      ...(kind !== 'return' && { entry }),
      ...(kind !== 'entry' && { return: (_: Hit) => void list.push(`${name}:ret`) }),
    });
  }

  /** Calls a function of the text and runs until it returns or a signal arrives. */
  call(address: bigint, regs: Partial<Record<number, bigint>> = {}): Ending {
    const { task } = this;
    task.blocked = 0n;
    task.trapNumber = 0n;
    this.kernel.makeCurrent(task);
    for (const reg of Object.values(Reg)) if (reg < Reg.Rip) task.regs.write(reg, regs[reg] ?? 0n);
    const sp = regs[Reg.Rsp] ?? STACK_TOP - 0x100n;
    this.mm.space.writeU64(sp, END);
    task.regs.write(Reg.Rsp, sp);
    task.regs.write(Reg.Rflags, regs[Reg.Rflags] ?? 0x202n);
    task.regs.write(Reg.Rip, address);
    this.mm.engine.shadowStack?.push(END);
    return this.#run();
  }

  /** Returns from the signal handler that the last call ended in, and goes on. */
  resume(): Ending {
    const { regs } = this.task;
    // The handler's ret.
    regs.write(Reg.Rsp, regs.read(Reg.Rsp) + 8n);
    regs.write(Reg.Rip, SIGRETURN);
    return this.#run();
  }

  #run(): Ending {
    const { task } = this;
    task.state = RUNNING;
    this.#ended = null;
    const end = this.kernel.runSlice({ instructions: 100_000 });
    if (end.kind === 'unsupported') return { kind: 'unsupported' };
    if (this.#ended === 'end') return { kind: 'returned' };
    if (this.#ended === 'handler') return this.#signal();
    throw new Error(`lost at 0x${task.regs.read(Reg.Rip).toString(16)}`);
  }

  reg(reg: Reg): bigint {
    return this.task.regs.read(reg);
  }

  /** Memory as it is, as hex. */
  bytes(address: bigint, count: number): string {
    const bytes = new Uint8Array(count);
    if (this.mm.space.readForced(address, bytes) < count) throw new Error('unmapped');
    return hexOf(bytes);
  }

  /** Bytes of the kernel's own mappings, which nobody may read. */
  specialBytes(address: bigint, count: number): string {
    const bytes = new Uint8Array(count);
    this.mm.engine.peek(address, bytes);
    return hexOf(bytes);
  }

  /** Start of the mapping with this name, in address order. */
  specials(name: string): bigint[] {
    return this.mm.space
      .vmas()
      .filter((vma) => vma.special?.name === name)
      .map((vma) => vma.start);
  }

  dispose(): void {
    this.kernel.dispose();
  }

  #atEnd(task: Task): boolean {
    const at = task.regs.read(Reg.Rip) - 1n;
    if (at === END) this.#ended = 'end';
    else if (at === HANDLER) this.#ended = 'handler';
    else return false;
    task.state = STOPPED;
    return true;
  }

  #mapOwn(): void {
    const { space } = this.mm;
    const anonymous = (address: bigint, size: bigint, prot: number): void => {
      space.map({ address, placement: 'only', size, prot });
    };
    anonymous(END, 0x1000n, Prot.Read | Prot.Exec);
    space.writeText(END, Uint8Array.of(0xcc));
    space.writeText(HANDLER, Uint8Array.of(0xcc));
    space.writeText(SIGRETURN, bytesOf('b8 0f 00 00 00 0f 05'));
    anonymous(SIGNAL_STACK, STACK_SIZE, Prot.Read | Prot.Write);
    anonymous(STACK_TOP - STACK_SIZE, STACK_SIZE, Prot.Read | Prot.Write);
  }

  /** Signals go to a handler on its own stack from here on. */
  catchSignals(): void {
    const { task } = this;
    Object.assign(task.altStack, { sp: SIGNAL_STACK, size: STACK_SIZE, flags: 0 });
    catchSignals(task, HANDLER, () => HANDLER);
  }

  #signal(): Ending {
    const frame = new Uint8Array(Frame.size);
    this.mm.space.read(this.reg(Reg.Rsp), frame);
    const { word, ...info } = readFrame(frame);
    return {
      kind: 'signal',
      ...info,
      ip: word('ip'),
      sp: word('sp'),
      trapNumber: word('trapno'),
      flags: word('flags'),
    };
  }
}

/** Runs a body on a rig and frees it. */
export const withRig = (options: RigOptions, body: (rig: Rig) => void): void => {
  const rig = new Rig(options);
  try {
    rig.catchSignals();
    body(rig);
  } finally {
    rig.dispose();
  }
};
