import { NSIG, SIG_DFL, SIG_IGN, sigBit } from '../../../abi/signals.ts';
import { PAGE_SIZE } from '../../../base/bytes.ts';
import { Prot } from '../../../cpu/engine.ts';
import type { Vma } from '../../../memory/vma.ts';
import type { Task } from '../../task.ts';

const STATES: Readonly<Record<Task['state']['kind'], string>> = {
  running: 'R (running)',
  sleeping: 'S (sleeping)',
  stopped: 'T (stopped)',
  exited: 'Z (zombie)',
};

const mask = (bits: bigint): string => bits.toString(16).padStart(16, '0');
const kilobytes = (bytes: bigint): string => `${bytes / 1024n} kB`.padStart(11);

const sum = (vmas: readonly Vma[], wanted: (vma: Vma) => boolean): bigint =>
  vmas.filter(wanted).reduce((bytes, vma) => bytes + (vma.end - vma.start), 0n);

/** The handlers' sets: ignored and caught signals. */
const actionMasks = (task: Task): { readonly ignored: bigint; readonly caught: bigint } => {
  let ignored = 0n;
  let caught = 0n;
  for (let signal = 1; signal <= NSIG; signal++) {
    const { handler } = task.actions.get(signal);
    if (handler === SIG_IGN) ignored |= sigBit(signal);
    else if (handler !== SIG_DFL) caught |= sigBit(signal);
  }
  return { ignored, caught };
};

const memoryLines = (task: Task): [string, string][] => {
  const { space, exe } = task.mm;
  const vmas = space.vmas();
  const total = sum(vmas, () => true);
  const populated = BigInt(space.counters.pagesPopulated) * PAGE_SIZE;
  const resident = populated < total ? populated : total;
  const isCode = ({ prot }: Vma): boolean => (prot & Prot.Exec) !== 0;
  return [
    ['VmPeak', kilobytes(total)],
    ['VmSize', kilobytes(total)],
    ['VmHWM', kilobytes(resident)],
    ['VmRSS', kilobytes(resident)],
    [
      'VmData',
      kilobytes(sum(vmas, (vma) => !vma.shared && !vma.growsDown && (vma.prot & Prot.Write) !== 0)),
    ],
    ['VmStk', kilobytes(sum(vmas, (vma) => vma.growsDown))],
    ['VmExe', kilobytes(sum(vmas, (vma) => isCode(vma) && vma.file === exe))],
    ['VmLib', kilobytes(sum(vmas, (vma) => isCode(vma) && vma.file !== exe))],
  ];
};

/**
 * `/proc/PID/status`: the kernel's lines in its order, without those about things this kernel layer
 * has not (NUMA, huge pages, seccomp counters). Resident sizes count populated pages.
 */
export const statusText = (task: Task): string => {
  const { group } = task;
  const { ignored, caught } = actionMasks(task);
  const four = (id: number): string => `${id}\t${id}\t${id}\t${id}`;
  const lines: [string, string | number][] = [
    ['Name', task.comm],
    ['Umask', task.files.umask.toString(8).padStart(4, '0')],
    ['State', STATES[task.state.kind]],
    ['Tgid', task.tgid],
    ['Ngid', 0],
    ['Pid', task.tid],
    ['PPid', group.ppid],
    ['TracerPid', 0],
    ['Uid', four(group.uid)],
    ['Gid', four(group.gid)],
    ['FDSize', 256],
    ['Groups', ' '],
    ...memoryLines(task),
    ['Threads', 1],
    ['SigPnd', mask(task.pending.mask)],
    ['ShdPnd', mask(group.pending.mask)],
    ['SigBlk', mask(task.blocked)],
    ['SigIgn', mask(ignored)],
    ['SigCgt', mask(caught)],
    ['CapInh', mask(0n)],
    ['CapPrm', mask(0n)],
    ['CapEff', mask(0n)],
    ['CapBnd', mask(0n)],
    ['CapAmb', mask(0n)],
    ['NoNewPrivs', 0],
    ['Seccomp', 0],
    ['Cpus_allowed', 1],
    ['Cpus_allowed_list', 0],
  ];
  return lines.map(([name, value]) => `${name}:\t${value}\n`).join('');
};
