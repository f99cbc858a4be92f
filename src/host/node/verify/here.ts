/** Whether this machine's kernel can be asked. */
import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';

export const TRACEFS = '/sys/kernel/tracing';

/** Bit 7 of the kernel's taint: it has oopsed. */
const OOPSED = 0x80;

const TAINT = '/proc/sys/kernel/tainted';

const toolPath = (name: string): string | undefined =>
  ['/usr/bin', '/bin'].map((dir) => `${dir}/${name}`).find((path) => existsSync(path));

/** util-linux: no core file, one CPU, fixed addresses. */
const TOOLS = ['prlimit', 'taskset', 'setarch'] as const;

/**
 * What starts a program with these three settings; each tool becomes the next by execve, so that the
 * process id stays. Preconditions: {@link whyNotHere} is null.
 */
export const launcher = (): readonly string[] => {
  const [prlimit = '', taskset = '', setarch = ''] = TOOLS.map(toolPath);
  return [prlimit, '--core=0', taskset, '-c', '0', setarch, '-R'];
};

/** Why the kernel cannot be asked, as the rest of a sentence; null when it can. */
export const whyNotHere = (): string | null => {
  if (process.platform !== 'linux') return `this is ${process.platform}, not Linux`;
  if (process.arch !== 'x64') return `this CPU is ${process.arch}, not x86-64`;
  if (process.getuid?.() !== 0) return 'probing a real kernel needs root';
  // Locks that a dead task holds would make every access to tracefs wait for ever.
  if ((Number(readFileSync(TAINT, 'utf8')) & OOPSED) !== 0)
    return 'the kernel has oopsed, so that nothing it says proves anything; reboot it';
  if (!existsSync(`${TRACEFS}/uprobe_events`))
    return `there is no ${TRACEFS}/uprobe_events (mount -t tracefs tracefs ${TRACEFS})`;
  const tool = TOOLS.find((name) => toolPath(name) === undefined);
  return tool === undefined ? null : `the tool ${tool} of util-linux is missing`;
};

/** The running kernel's release, as uname(2) tells it. */
export const kernelRelease = (): string => release();
