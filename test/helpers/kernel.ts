/** A kernel with a program loaded, without the machine on top: what the kernel's own tests use. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { loadProgram } from '../../src/elf/load.ts';
import { FileTable } from '../../src/kernel/files/file-table.ts';
import { FileView } from '../../src/kernel/files/file-view.ts';
import { MemoryTree } from '../../src/kernel/files/memory-tree.ts';
import { nameToBytes } from '../../src/kernel/files/names.ts';
import { StandardStreams } from '../../src/kernel/files/standard-streams.ts';
import { Kernel, type SliceEnd } from '../../src/kernel/kernel.ts';
import type { Mm } from '../../src/kernel/mm.ts';
import { SYSCALL_ROWS } from '../../src/kernel/syscalls/rows.ts';
import type { Task } from '../../src/kernel/task.ts';

export interface Booted {
  readonly kernel: Kernel;
  readonly mm: Mm;
  readonly task: Task;
  readonly files: FileView;
  /** What the program has written to stdout and stderr so far. */
  output(): string;
  /** Lines of the kernel's log. */
  readonly log: readonly string[];
}

/** Boots a static program from its bytes. `prepare` sees the kernel before anything is mapped. */
export const bootBytes = (
  engine: EngineFactory,
  bytes: Uint8Array,
  argv: readonly string[],
  prepare: (kernel: Kernel) => void = () => {},
): Booted => {
  const log: string[] = [];
  const kernel = new Kernel({
    createEngine: () => engine.create(),
    syscalls: SYSCALL_ROWS,
    log: (line) => log.push(line),
  });
  prepare(kernel);
  let output = '';
  const sink = (written: Uint8Array): null => {
    output += new TextDecoder().decode(written);
    return null;
  };
  const view = new FileView({
    streams: new StandardStreams({ stdout: sink, stderr: sink }),
    random: (into) => kernel.random.fill(into),
  });
  view.proc.source = kernel;
  view.mount({ at: '/', tree: new MemoryTree({ program: { bytes, mode: 0o755 } }) });
  const mm = kernel.createMm();
  const exe = view.inode('/program');
  if (typeof exe === 'string') throw new Error(`program: ${exe}`);
  const image = loadProgram(mm.space, {
    file: exe,
    interpreter: () => undefined,
    argv: argv.map(nameToBytes),
    env: [],
    execFn: nameToBytes('/program'),
    random: new Uint8Array(16),
    facts: { hwcap: 0n, hwcap2: 0n, minSignalStack: 1440n, uid: 1000, gid: 1000 },
  });
  const task = kernel.createProcess(mm, {
    image: { ...image, stackPointer: image.sp, exe },
    files: new FileTable(view),
    comm: basename(argv[0] ?? 'program'),
  });
  return { kernel, mm, task, files: view, output: () => output, log };
};

/** Boots an ELF file. */
export const bootFile = (
  engine: EngineFactory,
  path: string,
  args: readonly string[] = [],
  prepare?: (kernel: Kernel) => void,
): Booted => bootBytes(engine, readFileSync(path), [path, ...args], prepare);

/** Runs until the program has ended, waits or has used up `instructions`. */
export const runToEnd = ({ kernel }: Booted, instructions = 50_000_000): SliceEnd =>
  kernel.runSlice({ instructions });
