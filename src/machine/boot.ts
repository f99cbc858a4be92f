import { TraplineError } from '../base/errors.ts';
import { cpuid } from '../cpu/cpuid.ts';
import type { Engine } from '../cpu/engine.ts';
import { ShadowStackEngine } from '../cpu/shadow-stack/engine.ts';
import { type LoadedProgram, loadProgram } from '../elf/load.ts';
import { FileTable } from '../kernel/files/file-table.ts';
import { FileView } from '../kernel/files/file-view.ts';
import { nameToBytes } from '../kernel/files/names.ts';
import { StandardStreams } from '../kernel/files/standard-streams.ts';
import { Kernel } from '../kernel/kernel.ts';
import type { Mm } from '../kernel/mm.ts';
import { SYSCALL_ROWS } from '../kernel/syscalls/rows.ts';
import type { Task } from '../kernel/task.ts';
import type { MachineOptions } from './options.ts';

/**
 * AT_MINSIGSTKSZ of a CPU without XSAVE: the 512 bytes of FXSAVE plus the 928 that Linux 6.18 adds
 * to its XSAVE size (3376 for 2432 + 4, rounded up to 16).
 */
const MIN_SIGNAL_STACK = 1440n;

/** The user who runs the guest, as the auxiliary vector tells. */
const USER_ID = 1000;

/** A machine whose program is loaded and has not run yet. */
export interface Booted {
  readonly kernel: Kernel;
  readonly files: FileView;
  readonly mm: Mm;
  readonly task: Task;
  readonly program: LoadedProgram;
}

/**
 * Builds kernel, file view and first process. `prepare` runs between the kernel's making and the
 * loading of the program, so that hooks see every mapping.
 */
export const boot = (options: MachineOptions, prepare: (kernel: Kernel) => void): Booted => {
  const kernel = new Kernel({
    createEngine: () => createEngine(options),
    syscalls: SYSCALL_ROWS,
    seed: options.seed ?? 1n,
    ...(options.clock && { clock: options.clock }),
    ...(options.log && { log: options.log }),
  });
  prepare(kernel);
  try {
    return start(options, kernel);
  } catch (error) {
    kernel.dispose();
    throw error;
  }
};

const createEngine = ({ engine, shadowStack = false }: MachineOptions): Engine =>
  shadowStack ? new ShadowStackEngine(engine.create()) : engine.create();

const start = (options: MachineOptions, kernel: Kernel): Booted => {
  const files = fileViewOf(options, kernel);
  const { memoryLimit } = options;
  const mm = kernel.createMm(memoryLimit === undefined ? {} : { sizeLimit: memoryLimit });
  const program = load(options, kernel, files, mm);
  const exe = fileAt(files, options.program.path);
  const task = kernel.createProcess(mm, {
    image: {
      entry: program.entry,
      stackPointer: program.sp,
      brkStart: program.brkStart,
      exe,
      auxv: program.auxv,
    },
    files: new FileTable(files),
    comm: baseName(options.program.path),
    ids: { uid: USER_ID, gid: USER_ID },
  });
  return { kernel, files, mm, task, program };
};

const fileViewOf = (options: MachineOptions, kernel: Kernel): FileView => {
  const { program, root, mounts = [], io = {} } = options;
  const drop = (): null => null;
  const view = new FileView({
    streams: new StandardStreams({
      stdout: io.stdout ?? drop,
      stderr: io.stderr ?? drop,
      ...(io.terminal && { terminal: io.terminal }),
    }),
    random: (into) => kernel.random.fill(into),
  });
  view.proc.source = kernel;
  if (io.stdin === undefined) view.streams.stdin.end();
  if (root !== undefined) view.mount({ at: '/', tree: root });
  for (const mount of mounts) view.mount(mount);
  view.mount({ at: program.path, tree: program.tree, root: program.file });
  return view;
};

const fileAt = (files: FileView, path: string) => {
  const inode = files.inode(path);
  if (typeof inode === 'string')
    throw new TraplineError('file-missing', `cannot read ${path}: ${inode}`, { errno: inode });
  return inode;
};

const load = (options: MachineOptions, kernel: Kernel, files: FileView, mm: Mm): LoadedProgram => {
  const { path } = options.program;
  const random = new Uint8Array(16);
  kernel.random.fill(random);
  const { edx } = cpuid(mm.engine, 1);
  return loadProgram(mm.space, {
    file: fileAt(files, path),
    interpreter: (name) => {
      const inode = files.inode(name);
      return typeof inode === 'string' ? undefined : inode;
    },
    argv: (options.argv ?? [path]).map(nameToBytes),
    env: Object.entries(options.env ?? {}).map(([name, value]) => nameToBytes(`${name}=${value}`)),
    execFn: nameToBytes(path),
    random,
    facts: {
      hwcap: BigInt(edx),
      hwcap2: 0n,
      minSignalStack: MIN_SIGNAL_STACK,
      uid: USER_ID,
      gid: USER_ID,
    },
  });
};

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
