/** A process without a program: who makes it maps its text and memory, and looks at what its signals come to. */
import { Frame, SigContext, SigInfoLayout, UContext } from '../abi/sigframe.ts';
import { NSIG, Sa } from '../abi/signals.ts';
import { view } from '../base/bytes.ts';
import type { Inode } from '../memory/backing.ts';
import { FileTable } from './files/file-table.ts';
import { FileView } from './files/file-view.ts';
import { StandardStreams } from './files/standard-streams.ts';
import type { Kernel } from './kernel.ts';
import type { Mm } from './mm.ts';
import type { Task } from './task.ts';
import type { ProcessIds } from './thread-group.ts';

export interface BareProcess {
  readonly exe: Inode;
  readonly comm: string;
  readonly entry: bigint;
  readonly brkStart: bigint;
  readonly stackPointer?: bigint;
  readonly ids?: ProcessIds;
}

/** Nothing is mapped; the standard streams go nowhere. */
export const createBareProcess = (
  kernel: Kernel,
  mm: Mm,
  { exe, comm, entry, brkStart, stackPointer = 0n, ids }: BareProcess,
): Task => {
  const streams = new StandardStreams({ stdout: () => null, stderr: () => null });
  return kernel.createProcess(mm, {
    image: { entry, stackPointer, brkStart, exe, auxv: new Uint8Array(0) },
    files: new FileTable(new FileView({ streams, random: () => {} })),
    comm,
    ...(ids && { ids }),
  });
};

/** Every signal goes to a handler with SA_SIGINFO, on the alternate stack. */
export const catchSignals = (
  task: Task,
  restorer: bigint,
  handlerOf: (signal: number) => bigint,
): void => {
  const flags = Sa.SIGINFO | Sa.ONSTACK | Sa.RESTORER;
  for (let signal = 1; signal <= NSIG; signal++)
    task.actions.set(signal, { handler: handlerOf(signal), flags, restorer, mask: 0n });
};

/** What a handler with SA_SIGINFO is told. */
export interface CaughtSignal {
  readonly signal: number;
  readonly code: number;
  readonly address: bigint;
  /** A 64-bit word of struct sigcontext. */
  readonly word: (name: ContextWord) => bigint;
}

type ContextWord = Exclude<keyof typeof SigContext, 'cs' | 'gs' | 'fs' | 'ss' | 'size'>;

/** @param frame struct rt_sigframe, which sp points at when the handler begins */
export const readFrame = (frame: Uint8Array): CaughtSignal => {
  const context = view(frame.subarray(Frame.ucontext + UContext.mcontext));
  const info = view(frame.subarray(Frame.siginfo));
  return {
    signal: info.getInt32(SigInfoLayout.signo, true),
    code: info.getInt32(SigInfoLayout.code, true),
    address: info.getBigUint64(SigInfoLayout.address, true),
    word: (name) => context.getBigUint64(SigContext[name], true),
  };
};
