import { Prot } from '../../../cpu/engine.ts';
import type { Vma } from '../../../memory/vma.ts';
import type { Mm } from '../../mm.ts';

/** Names start in this column (seq_pad in fs/proc/task_mmu.c: 25 + 8 * 6 - 1, then one blank). */
const NAME_COLUMN = 73;

const hex = (value: bigint, width: number): string => value.toString(16).padStart(width, '0');

const rights = ({ prot, shared }: Vma): string =>
  (prot & Prot.Read ? 'r' : '-') +
  (prot & Prot.Write ? 'w' : '-') +
  (prot & Prot.Exec ? 'x' : '-') +
  (shared ? 's' : 'p');

/** Where the heap lies now; empty before the first brk(2). */
export type Heap = Pick<Mm, 'brkStart' | 'brk'>;

/** vma_is_initial_heap: whatever was mapped over the heap is called so too. */
const isHeap = ({ start, end }: Vma, { brkStart, brk }: Heap): boolean =>
  start < brk && end > brkStart;

const nameOf = (vma: Vma, heap: Heap): string => {
  const { file, special, label } = vma;
  // The kernel escapes only the line end in paths.
  if (file !== null) return file.path.replaceAll('\n', '\\012');
  return special?.name ?? label ?? (isHeap(vma, heap) ? '[heap]' : '');
};

/** One line of `/proc/PID/maps`, as the kernel prints it. */
const mapsLine = (vma: Vma, heap: Heap): string => {
  const { file } = vma;
  const device = file?.device ?? { major: 0, minor: 0 };
  const offset = file === null ? 0n : vma.offset;
  const line =
    `${hex(vma.start, 8)}-${hex(vma.end, 8)} ${rights(vma)} ${hex(offset, 8)} ` +
    `${hex(BigInt(device.major), 2)}:${hex(BigInt(device.minor), 2)} ${file?.number ?? 0} `;
  const name = nameOf(vma, heap);
  return `${name === '' ? line : line.padEnd(NAME_COLUMN) + name}\n`;
};

/** All of `/proc/PID/maps`. */
export const mapsText = (vmas: readonly Vma[], heap: Heap): string =>
  vmas.map((vma) => mapsLine(vma, heap)).join('');
