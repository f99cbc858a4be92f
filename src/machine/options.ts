import { TraplineError } from '../base/errors.ts';
import type { EngineFactory } from '../cpu/engine.ts';
import type { ClockOptions } from '../kernel/clock.ts';
import type { MountOptions } from '../kernel/files/file-view.ts';
import type { OutputSink } from '../kernel/files/streams.ts';
import type { WindowSize } from '../kernel/files/terminal.ts';
import type { FileTree } from '../kernel/files/tree.ts';
import { DEFAULT_PROFILE, findProfile, PROFILE_NAMES, type Profile } from '../uprobes/index.ts';

/** Where the guest's standard input comes from. */
export interface InputSource {
  /** More bytes (a terminal gives one line a call), or null at the end. Only called when the guest waits. */
  read(): Promise<Uint8Array | null>;
}

/** The guest's standard streams; what is absent is empty or dropped. */
export interface StandardIo {
  readonly stdin?: InputSource;
  readonly stdout?: OutputSink;
  readonly stderr?: OutputSink;
  /** Which of them are the host's terminal. */
  readonly terminal?: {
    readonly size?: WindowSize;
    readonly stdin: boolean;
    readonly stdout: boolean;
    readonly stderr: boolean;
  };
}

/** The program to run: one file of a tree, shown to the guest at `path`. */
export interface ProgramFile {
  /** Absolute path in the guest's view. */
  readonly path: string;
  readonly tree: FileTree;
  /** Path of the file in `tree`. */
  readonly file: string;
}

/** What a {@link Machine} is made of. */
export interface MachineOptions {
  readonly engine: EngineFactory;
  readonly program: ProgramFile;
  /** argv[0] included; default the program's path alone. */
  readonly argv?: readonly string[];
  /** Default empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** Name or alias; default `k7.3`. */
  readonly profile?: string;
  /** The guest's `/`, read-only; default empty. */
  readonly root?: FileTree;
  readonly mounts?: readonly MountOptions[];
  readonly io?: StandardIo;
  /** Seed of getrandom(2), /dev/urandom and AT_RANDOM; default 1. */
  readonly seed?: bigint;
  readonly clock?: ClockOptions;
  /**
   * The CPU keeps a shadow stack (CET) from the first instruction on, as if the program had asked for
   * it: a return that does not match is SIGSEGV. Slow: every instruction is looked at. Default false.
   */
  readonly shadowStack?: boolean;
  /** Directory that relative paths of probe sites start from; default `/`. */
  readonly probeBase?: string;
  /** Bytes the guest may map; default 4 GiB. */
  readonly memoryLimit?: bigint;
  /** Takes one line at a time: what the kernel logs, system calls we do not have. Default: nowhere. */
  readonly log?: (line: string) => void;
}

/** The profile of a name or alias. Throws `bad-option` with the list of names. */
export const requireProfile = (name: string = DEFAULT_PROFILE): Profile => {
  const profile = findProfile(name);
  if (profile === undefined)
    throw new TraplineError('bad-option', `there is no kernel profile ${name}`, {
      hint: `profiles: ${PROFILE_NAMES.join(' ')}`,
    });
  return profile;
};
