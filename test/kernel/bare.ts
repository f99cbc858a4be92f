/** A kernel around scripted engines: one page of program, one of stack, no files. */
import { Prot } from '../../src/cpu/engine.ts';
import { FileTable } from '../../src/kernel/files/file-table.ts';
import { FileView } from '../../src/kernel/files/file-view.ts';
import { StandardStreams } from '../../src/kernel/files/standard-streams.ts';
import { Kernel, type KernelOptions } from '../../src/kernel/kernel.ts';
import type { Mm } from '../../src/kernel/mm.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import type { SyscallRow } from '../../src/kernel/syscalls/table.ts';
import type { Task } from '../../src/kernel/task.ts';
import { memoryInode } from '../helpers/memory-inode.ts';
import { factoryOf, ScriptedEngine, type Step } from './scripted-engine.ts';

export const STACK = 0x7fff0000n;
export const STACK_TOP = STACK + 0x8000n;
export const SCRATCH = STACK + 0x100n;
export const HANDLER = 0x401800n;
export const RESTORER = 0x401900n;

export interface Bare {
  readonly kernel: Kernel;
  readonly engine: ScriptedEngine;
  readonly mm: Mm;
  readonly task: Task;
  readonly log: readonly string[];
}

/** Adds a process to a kernel. */
export const addProcess = (kernel: Kernel, mm: Mm, pid = 1000): Task => {
  const streams = new StandardStreams({ stdout: () => null, stderr: () => null });
  return kernel.createProcess(mm, {
    image: {
      entry: 0x401000n,
      stackPointer: STACK_TOP,
      brkStart: 0x500000n,
      exe: memoryInode('/program', new Uint8Array(1)),
      auxv: new Uint8Array(16),
    },
    files: new FileTable(new FileView({ streams, random: () => {} })),
    comm: 'program',
    ids: { pid },
  });
};

/** A kernel with one process whose CPU takes the given traps. */
export const bare = (
  steps: readonly Step[],
  extraRows: readonly SyscallRow[] = [],
  options: Partial<KernelOptions> = {},
): Bare => {
  const engine = new ScriptedEngine(steps);
  const factory = factoryOf(engine);
  const log: string[] = [];
  const own = new Set(extraRows.map(({ number }) => number));
  const kernel = new Kernel({
    createEngine: () => factory.create(),
    syscalls: [...SYSCALL_ROWS.filter(({ number }) => !own.has(number)), ...extraRows],
    log: (line) => log.push(line),
    ...options,
  });
  const mm = kernel.createMm();
  mm.space.map({
    address: STACK,
    placement: 'replace',
    size: 0x8000n,
    prot: Prot.Read | Prot.Write,
  });
  const task = addProcess(kernel, mm);
  return { kernel, engine, mm, task, log };
};
