/** A task without a CPU that makes system calls one by one, through the kernel's own dispatcher. */
import { errnoName } from '../../src/abi/errno.ts';
import { Sys, type SyscallName } from '../../src/abi/syscalls.ts';
import { Reg } from '../../src/cpu/engine.ts';
import { FileTable } from '../../src/kernel/files/file-table.ts';
import { FileView } from '../../src/kernel/files/file-view.ts';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { nameToBytes } from '../../src/kernel/files/names.ts';
import {
  type StandardStreamOptions,
  StandardStreams,
} from '../../src/kernel/files/standard-streams.ts';
import { Kernel } from '../../src/kernel/kernel.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import type { WaitReason } from '../../src/kernel/syscalls/table.ts';
import type { Task } from '../../src/kernel/task.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';
import { memoryInode } from '../helpers/memory-inode.ts';

const ARGUMENTS = [Reg.Rdi, Reg.Rsi, Reg.Rdx, Reg.R10, Reg.R8, Reg.R9];
/** Two pages of memory to use freely; the page behind them is not mapped. */
const ROOM = 0x10000n;
export const ROOM_END = ROOM + 0x2000n;
/** Nothing is ever mapped here. */
export const BAD = 0x10n;

/** An answer: a number, an errno name, or what the task sleeps on now. */
export type Answered = number | string | WaitReason;

export class Guest {
  readonly kernel: Kernel;
  readonly task: Task;
  readonly view: FileView;
  readonly log: string[] = [];
  stdout = '';
  #next = ROOM;

  constructor(streams: Partial<StandardStreamOptions> = {}, tree = new MemoryTree()) {
    this.kernel = new Kernel({
      createEngine: () => new FakeEngine(),
      syscalls: SYSCALL_ROWS,
      log: (line) => this.log.push(line),
    });
    const stdout = (bytes: Uint8Array): null => {
      this.stdout += new TextDecoder().decode(bytes);
      return null;
    };
    this.view = new FileView({
      streams: new StandardStreams({ stdout, stderr: () => null, ...streams }),
      random: (into) => this.kernel.random.fill(into),
    });
    this.view.proc.source = this.kernel;
    this.view.mount({ at: '/', tree, writable: true });
    const mm = this.kernel.createMm();
    this.task = this.kernel.createProcess(mm, {
      image: {
        entry: 0n,
        stackPointer: 0n,
        brkStart: 0x600000n,
        exe: memoryInode('/prog', new Uint8Array(1)),
        auxv: new Uint8Array(16),
      },
      files: new FileTable(this.view),
      comm: 'prog',
    });
    mm.space.map({ address: ROOM, placement: 'replace', size: ROOM_END - ROOM, prot: 3 });
  }

  /** Makes a call. Text becomes the address of a C string, null the address 0. */
  call(name: SyscallName, ...args: readonly (bigint | number | string | null)[]): Answered {
    const { regs } = this.task;
    ARGUMENTS.forEach((reg, i) => {
      regs.write(reg, this.#argument(args[i] ?? 0n));
    });
    regs.write(Reg.Rax, BigInt(Sys[name]));
    this.kernel.dispatcher.enter(this.task);
    return this.answer();
  }

  /** What became of the last call. */
  answer(): Answered {
    const { state, regs } = this.task;
    if (state.kind === 'sleeping') return state.sleep.reason;
    const value = BigInt.asIntN(64, regs.read(Reg.Rax));
    return value < 0n && value > -4096n
      ? (errnoName(Number(-value)) ?? `${value}`)
      : Number(BigInt.asUintN(64, value));
  }

  /** Lets a sleeping call try again; what came of it. */
  again(): Answered {
    this.kernel.dispatcher.again(this.task);
    return this.answer();
  }

  /** Address of `size` zeroed bytes, or of a copy of some. */
  room(content: number | Uint8Array): bigint {
    const bytes = typeof content === 'number' ? new Uint8Array(content) : content;
    const at = this.#next;
    this.#next += BigInt((bytes.length + 15) & ~15);
    if (this.#next > ROOM_END) {
      this.#next = ROOM;
      return this.room(content);
    }
    this.task.mm.space.write(at, bytes);
    return at;
  }

  bytes(address: bigint, size: number): Uint8Array {
    const into = new Uint8Array(size);
    this.task.mm.space.read(address, into);
    return into;
  }

  text(address: bigint, size: number): string {
    return new TextDecoder().decode(this.bytes(address, size));
  }

  u64(address: bigint): bigint {
    return this.task.mm.space.readU64(address) ?? -1n;
  }

  u32(address: bigint): number {
    return Number(this.u64(address) & 0xffffffffn);
  }

  #argument(value: bigint | number | string | null): bigint {
    if (value === null) return 0n;
    if (typeof value !== 'string') return BigInt.asUintN(64, BigInt(value));
    return this.room(Uint8Array.of(...nameToBytes(value), 0));
  }
}
