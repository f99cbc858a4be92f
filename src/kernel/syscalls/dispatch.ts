import { fail } from '../../abi/errno.ts';
import { TraplineError } from '../../base/errors.ts';
import { Reg } from '../../cpu/engine.ts';
import { count, type KernelCounters } from '../counters.ts';
import type { ClaimedSyscall, Kernel } from '../kernel.ts';
import { RUNNING, type Task } from '../task.ts';
import type { SyscallContext, SyscallResult, SyscallRow, WaitReason } from './table.ts';

/** What a {@link Dispatcher} needs of the kernel. */
interface DispatchServices {
  readonly counters: KernelCounters;
  log(line: string): void;
}

/** Numbers to handlers: the rows, and what upper layers claimed. */
export class Dispatcher {
  readonly #kernel: DispatchServices;
  readonly #context: { -readonly [K in keyof SyscallContext]: SyscallContext[K] };
  readonly #rows = new Map<number, SyscallRow>();
  readonly #claims = new Map<number, ClaimedSyscall>();
  readonly #named = new Set<number>();
  readonly #args: [bigint, bigint, bigint, bigint, bigint, bigint] = [0n, 0n, 0n, 0n, 0n, 0n];

  constructor(kernel: Kernel, rows: readonly SyscallRow[]) {
    this.#kernel = kernel;
    this.#context = { kernel, waited: null } as SyscallContext;
    for (const row of rows) {
      if (this.#rows.has(row.number)) throw taken(row.number, row.name);
      this.#rows.set(row.number, row);
    }
  }

  claim(number: number, name: string, handler: ClaimedSyscall): void {
    const row = this.#rows.get(number);
    if ((row !== undefined && row.support !== 'refused') || this.#claims.has(number))
      throw taken(number, name);
    this.#claims.set(number, handler);
  }

  /** The `syscall` instruction of a current task. Afterwards it may sleep or have exited. */
  enter(task: Task): void {
    const number = Number(BigInt.asIntN(32, task.regs.read(Reg.Rax)));
    count(this.#kernel.counters.syscalls, number);
    task.syscall = number;
    const claim = this.#claims.get(number);
    if (claim === undefined) this.#finish(task, number, this.#call(task, number, null));
    else {
      // Such calls put the caller's own registers back: ax may look like a restart code.
      task.syscall = -1;
      this.#finish(task, number, claim(task));
    }
  }

  /** Runs the row of a sleeping current task again. False if it goes on sleeping. */
  again(task: Task): boolean {
    if (task.state.kind !== 'sleeping') return false;
    const { syscall, reason } = task.state.sleep;
    task.state = RUNNING;
    this.#finish(task, syscall, this.#call(task, syscall, reason));
    return task.state.kind === RUNNING.kind;
  }

  #call(task: Task, number: number, waited: WaitReason | null): SyscallResult {
    const row = this.#rows.get(number);
    if (row === undefined) {
      count(this.#kernel.counters.unknownSyscalls, number);
      return fail('ENOSYS');
    }
    if (row.support === 'refused') this.#nameOnce(row);
    const ctx = this.#context;
    ctx.task = task;
    ctx.mm = task.mm;
    ctx.space = task.mm.space;
    ctx.files = task.files;
    ctx.waited = waited;
    return row.handler(ctx, this.#argumentsOf(task));
  }

  #argumentsOf({ regs }: Task) {
    const args = this.#args;
    args[0] = regs.read(Reg.Rdi);
    args[1] = regs.read(Reg.Rsi);
    args[2] = regs.read(Reg.Rdx);
    args[3] = regs.read(Reg.R10);
    args[4] = regs.read(Reg.R8);
    args[5] = regs.read(Reg.R9);
    return args;
  }

  #finish(task: Task, syscall: number, result: SyscallResult): void {
    if (result === undefined) task.syscall = -1;
    else if (typeof result === 'bigint') task.regs.write(Reg.Rax, result);
    else {
      const { blocked: reason, interrupted, accepts } = result;
      task.state = { kind: 'sleeping', sleep: { syscall, reason, interrupted, accepts } };
    }
  }

  #nameOnce({ number, name, note }: SyscallRow): void {
    if (this.#named.has(number)) return;
    this.#named.add(number);
    this.#kernel.log(`system call ${name} (${number}) answers ENOSYS: ${note ?? 'not there yet'}`);
  }
}

const taken = (number: number, name: string): TraplineError =>
  new TraplineError('internal', `system call ${number} (${name}) has a handler already`);
