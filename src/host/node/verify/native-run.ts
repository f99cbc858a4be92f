/** Runs the program on this machine's CPU and kernel, as alike to an emulated run as that can be had. */
import { type ChildProcess, spawn } from 'node:child_process';
import { launcher } from './here.ts';

export interface NativeProgram {
  /** Absolute. */
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
}

/** What a run gave. */
export interface NativeEnd {
  readonly pid: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly status: number | null;
  /** Name of the signal that ended it. */
  readonly signal: NodeJS.Signals | null;
}

const collected = (stream: NodeJS.ReadableStream | null): Buffer[] => {
  const pieces: Buffer[] = [];
  stream?.on('data', (piece: Buffer) => pieces.push(piece));
  return pieces;
};

const feed = (child: ChildProcess, bytes: Uint8Array): void => {
  // A program that does not read its input is no error of ours.
  child.stdin?.on('error', () => {});
  child.stdin?.end(bytes);
};

/** Starts it in `/`, in a process group of its own. `abort` kills it. */
export const runNatively = (program: NativeProgram, abort: AbortSignal): Promise<NativeEnd> =>
  new Promise((resolve, reject) => {
    const [tool = '', ...words] = [...launcher(), program.path, ...program.args];
    const child = spawn(tool, words, {
      cwd: '/',
      env: program.env,
      detached: true,
      stdio: 'pipe',
      signal: abort,
      killSignal: 'SIGKILL',
    });
    const stdout = collected(child.stdout);
    const stderr = collected(child.stderr);
    child.on('error', reject);
    child.on('close', (status, signal) =>
      resolve({
        pid: child.pid ?? 0,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr),
        status,
        signal,
      }),
    );
    feed(child, program.stdin);
  });
