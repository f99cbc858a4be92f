/** A process that runs one recorded case after the other: text, regions and registers set afresh each time. */
import { Frame, SigContext, SigInfoLayout, UContext } from '../../../src/abi/sigframe.ts';
import { NSIG, Sa } from '../../../src/abi/signals.ts';
import { view } from '../../../src/base/bytes.ts';
import { type EngineFactory, Prot, Reg } from '../../../src/cpu/engine.ts';
import { FileTable } from '../../../src/kernel/files/file-table.ts';
import { FileView } from '../../../src/kernel/files/file-view.ts';
import { StandardStreams } from '../../../src/kernel/files/standard-streams.ts';
import { Kernel } from '../../../src/kernel/kernel.ts';
import type { Mm } from '../../../src/kernel/mm.ts';
import { SYSCALL_ROWS } from '../../../src/kernel/syscalls/rows.ts';
import { RUNNING, type Task } from '../../../src/kernel/task.ts';
import type { Inode } from '../../../src/memory/backing.ts';
import { type Profile, Uprobes } from '../../../src/uprobes/index.ts';
import { memoryInode } from '../memory-inode.ts';
import { HANDLER, REGIONS, SIGNAL_STACK, TEXT, vectorByte } from './regions.ts';
import type { ExecCase, ExecTable, Recorded } from './table.ts';

const REGS: Readonly<Record<string, Reg>> = {
  ax: Reg.Rax,
  bx: Reg.Rbx,
  cx: Reg.Rcx,
  dx: Reg.Rdx,
  si: Reg.Rsi,
  di: Reg.Rdi,
  bp: Reg.Rbp,
  sp: Reg.Rsp,
  r8: Reg.R8,
  r9: Reg.R9,
  r10: Reg.R10,
  r11: Reg.R11,
  r12: Reg.R12,
  r13: Reg.R13,
  r14: Reg.R14,
  r15: Reg.R15,
};

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** What a run of ours came to; `unsupported` = the engine lacks an instruction. */
export type Outcome = Recorded | { readonly unsupported: string };

const INT3 = 0xcc;

const textOf = (table: ExecTable): Uint8Array => {
  const text = new Uint8Array(TEXT.end - TEXT.start);
  const put = (address: number, bytes: Uint8Array): void => text.set(bytes, address - TEXT.start);
  for (const { entry, code } of table.cases)
    put(Number(entry), Uint8Array.from(Buffer.from(code, 'hex')));
  for (const cap of [table.cap0, table.cap1, HANDLER]) put(Number(cap), Uint8Array.of(INT3));
  return text;
};

export class Guest {
  readonly uprobes: Uprobes;
  readonly text: Inode;
  readonly mm: Mm;
  readonly #table: ExecTable;
  readonly #kernel: Kernel;
  readonly #task: Task;
  #stopped: 'cap0' | 'cap1' | 'signal' | null = null;

  constructor(table: ExecTable, factory: EngineFactory, profile: Profile) {
    this.#table = table;
    this.#kernel = new Kernel({ createEngine: () => factory.create(), syscalls: SYSCALL_ROWS });
    this.#kernel.subscribe({ breakpoint: (task) => this.#atCap(task) });
    this.uprobes = new Uprobes(this.#kernel, profile);
    this.text = memoryInode('/cases', textOf(table));
    this.mm = this.#kernel.createMm();
    this.#mapAll();
    const files = new FileView({
      streams: new StandardStreams({ stdout: () => null, stderr: () => null }),
      random: () => {},
    });
    this.#task = this.#kernel.createProcess(this.mm, {
      image: {
        entry: HANDLER,
        stackPointer: 0n,
        brkStart: 0x500000n,
        exe: this.text,
        auxv: new Uint8Array(0),
      },
      files: new FileTable(files),
      comm: 'cases',
      // What the recorded getppid answered.
      ids: { ppid: 0x74d7 },
    });
  }

  run(test: ExecCase): Outcome {
    this.#reset(test);
    this.#stopped = null;
    const end = this.#kernel.runSlice({ instructions: 10_000 });
    if (end.kind === 'unsupported') return { unsupported: end.text };
    const recorded = this.#stopped === 'signal' ? this.#signalState() : this.#plainState();
    return { ...recorded, mem: this.#changedMemory(test) };
  }

  dispose(): void {
    this.mm.engine.dispose();
  }

  #atCap(task: Task): boolean {
    const at = task.regs.read(Reg.Rip) - 1n;
    if (at === HANDLER) this.#stopped = 'signal';
    else if (at === BigInt(this.#table.cap0)) this.#stopped = 'cap0';
    else if (at === BigInt(this.#table.cap1)) this.#stopped = 'cap1';
    else return false;
    task.state = { kind: 'stopped', signal: 0 };
    return true;
  }

  #mapAll(): void {
    const { space } = this.mm;
    const map = (address: number, size: number, prot: number, file?: Inode): void => {
      space.map({
        address: BigInt(address),
        placement: 'only',
        size: BigInt(size),
        prot,
        ...(file && { file }),
      });
    };
    map(TEXT.start, TEXT.end - TEXT.start, Prot.Read | Prot.Exec, this.text);
    for (const { address, initial } of REGIONS)
      map(address, 4096, initial === null ? Prot.None : Prot.Read | Prot.Write);
    map(Number(SIGNAL_STACK.start), Number(SIGNAL_STACK.size), Prot.Read | Prot.Write);
  }

  #reset(test: ExecCase): void {
    const task = this.#task;
    task.state = RUNNING;
    task.blocked = 0n;
    task.trapNumber = 0n;
    task.errorCode = 0n;
    Object.assign(task.altStack, { sp: SIGNAL_STACK.start, size: SIGNAL_STACK.size, flags: 0 });
    const flags = Sa.SIGINFO | Sa.ONSTACK | Sa.RESTORER;
    for (let signal = 1; signal <= NSIG; signal++)
      task.actions.set(signal, { handler: HANDLER, flags, restorer: HANDLER, mask: 0n });
    for (const { address, initial } of REGIONS)
      if (initial !== null) this.mm.space.write(BigInt(address), initial(BigInt(test.alt)));
    for (const [name, value] of Object.entries(test.regs))
      task.regs.write(REGS[name]!, BigInt(value));
    // Thread-local storage: readable is all that counts, its contents are masked.
    task.regs.write(Reg.FsBase, SIGNAL_STACK.start);
    task.regs.write(Reg.Rflags, BigInt(this.#table.flags));
    task.regs.write(Reg.Rip, BigInt(test.entry));
    task.regs.writeFx(fxImage());
  }

  #registers(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(REGS).map(([name, reg]) => [name, hex(this.#task.regs.read(reg))]),
    );
  }

  #plainState(): Omit<Recorded, 'mem'> {
    const fx = new Uint8Array(512);
    this.#task.regs.readFx(fx);
    return {
      regs: this.#registers(),
      flags: hex(this.#task.regs.read(Reg.Rflags)),
      end: this.#stopped === 'signal' ? null : this.#stopped,
      xmm: xmmOf(fx),
    };
  }

  #signalState(): Omit<Recorded, 'mem'> {
    const frame = new Uint8Array(Frame.size);
    this.mm.space.read(this.#task.regs.read(Reg.Rsp), frame);
    const context = new DataView(frame.buffer, Frame.ucontext + UContext.mcontext);
    const word = (offset: number): bigint => context.getBigUint64(offset, true);
    const info = new DataView(frame.buffer, Frame.siginfo);
    const fx = new Uint8Array(512);
    this.mm.space.read(word(SigContext.fpstate), fx);
    return {
      regs: Object.fromEntries(
        Object.keys(REGS).map((name) => [
          name,
          hex(word(SigContext[name as keyof typeof SigContext])),
        ]),
      ),
      flags: hex(word(SigContext.flags)),
      end: null,
      signal: {
        signo: info.getInt32(SigInfoLayout.signo, true),
        code: info.getInt32(SigInfoLayout.code, true),
        addr: hex(info.getBigUint64(SigInfoLayout.address, true)),
        ip: hex(word(SigContext.ip)),
        trapno: Number(word(SigContext.trapno)),
        err: Number(word(SigContext.err)),
      },
      xmm: xmmOf(fx),
    };
  }

  #changedMemory(test: ExecCase): (readonly [string, string])[] {
    const changes: (readonly [string, string])[] = [];
    for (const { address, initial } of [...REGIONS].sort((a, b) => a.address - b.address)) {
      if (initial === null) continue;
      const before = initial(BigInt(test.alt));
      const now = new Uint8Array(before.length);
      this.mm.space.read(BigInt(address), now);
      for (let from = 0; from < now.length; from++) {
        if (now[from] === before[from]) continue;
        let to = from;
        while (to < now.length && now[to] !== before[to]) to++;
        changes.push([
          hex(BigInt(address + from)),
          Buffer.from(now.subarray(from, to)).toString('hex'),
        ]);
        from = to;
      }
    }
    return changes;
  }
}

const XMM0 = 160;

const xmmOf = (fx: Uint8Array): string[] =>
  [0, 1, 2, 3].map((n) =>
    Buffer.from(fx.subarray(XMM0 + 16 * n, XMM0 + 16 * n + 16)).toString('hex'),
  );

const fxImage = (): Uint8Array => {
  const fx = new Uint8Array(512);
  view(fx).setUint16(0, 0x37f, true);
  view(fx).setUint32(24, 0x1f80, true);
  for (let n = 0; n < 4; n++)
    for (let i = 0; i < 16; i++) fx[XMM0 + 16 * n + i] = vectorByte(32 * n + i);
  return fx;
};
