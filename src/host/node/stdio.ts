import { isatty } from 'node:tty';
import type { StandardIo } from '../../index.ts';
import { ProcessInput } from './input.ts';
import { SharedOutput } from './output.ts';

/** The standard streams of this process for a guest, and for our own lines beside it. */
export interface ProcessStdio {
  /** For `MachineOptions.io`. */
  readonly io: StandardIo;
  readonly stdin: ProcessInput;
  readonly stdout: SharedOutput;
  readonly stderr: SharedOutput;
  /** Writes what is collected and lets go of stdin. */
  close(): void;
}

/** Which of 0, 1, 2 are terminals, and how large; undefined when none is. */
const terminalOf = (): StandardIo['terminal'] => {
  const [stdin, stdout, stderr] = [isatty(0), isatty(1), isatty(2)];
  if (!stdin && !stdout && !stderr) return undefined;
  const { columns, rows } = stdout ? process.stdout : stderr ? process.stderr : {};
  const size = columns && rows ? { size: { columns, rows } } : {};
  return { ...size, stdin, stdout, stderr };
};

/** Passes this process's stdin, stdout and stderr through to a guest, byte for byte. */
export const processStdio = (): ProcessStdio => {
  const stdin = new ProcessInput();
  const stdout = new SharedOutput(1);
  const stderr = new SharedOutput(2);
  const terminal = terminalOf();
  return {
    io: {
      stdin,
      stdout: stdout.guest,
      stderr: stderr.guest,
      ...(terminal !== undefined && { terminal }),
    },
    stdin,
    stdout,
    stderr,
    close: () => {
      stdout.flush();
      stderr.flush();
      stdin.close();
    },
  };
};
