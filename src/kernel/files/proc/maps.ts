import { Prot } from '../../../cpu/engine.ts';
import type { Vma } from '../../../memory/vma.ts';

/** Names start in this column (seq_pad in fs/proc/task_mmu.c: 25 + 8 * 6 - 1, then one blank). */
const NAME_COLUMN = 73;

const hex = (value: bigint, width: number): string => value.toString(16).padStart(width, '0');

const rights = ({ prot, shared }: Vma): string =>
  (prot & Prot.Read ? 'r' : '-') +
  (prot & Prot.Write ? 'w' : '-') +
  (prot & Prot.Exec ? 'x' : '-') +
  (shared ? 's' : 'p');

const nameOf = ({ file, special, label }: Vma): string =>
  // The kernel escapes only the line end in paths.
  file?.path.replaceAll('\n', '\\012') ?? special?.name ?? label ?? '';

/** One line of `/proc/PID/maps`, as the kernel prints it. */
export const mapsLine = (vma: Vma): string => {
  const { file } = vma;
  const device = file?.device ?? { major: 0, minor: 0 };
  const offset = file === null ? 0n : vma.offset;
  const line =
    `${hex(vma.start, 8)}-${hex(vma.end, 8)} ${rights(vma)} ${hex(offset, 8)} ` +
    `${hex(BigInt(device.major), 2)}:${hex(BigInt(device.minor), 2)} ${file?.number ?? 0} `;
  const name = nameOf(vma);
  return `${name === '' ? line : line.padEnd(NAME_COLUMN) + name}\n`;
};

/** All of `/proc/PID/maps`. */
export const mapsText = (vmas: readonly Vma[]): string => vmas.map(mapsLine).join('');
