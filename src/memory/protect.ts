import { PAGE_MASK, pageUp } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import { type Area, clip, withProt } from './area.ts';
import type { MemoryState } from './state.ts';
import type { MemoryErrno } from './types.ts';

/** mprotect(2). As in Linux, what lies before a hole has changed when ENOMEM comes back. */
export const protectRange = (
  state: MemoryState,
  start: bigint,
  length: bigint,
  prot: number,
): MemoryErrno | null => {
  if ((start & PAGE_MASK) !== 0n) return 'EINVAL';
  if (length === 0n) return null;
  const end = start + pageUp(length);
  if (end <= start) return 'ENOMEM';
  let next = start;
  for (const area of state.list.overlapping(start, end)) {
    if (area.start > next) return 'ENOMEM';
    if (!mayHave(area, prot)) return 'EACCES';
    const part = clip(area, start, end);
    if (area.prot !== prot) changeProt(state, area, part, prot);
    next = area.end;
  }
  return next < end ? 'ENOMEM' : null;
};

/** VM_MAYEXEC, and the rights a special mapping was made with. */
const mayHave = (area: Area, prot: number): boolean =>
  (area.special === null || (prot & ~area.prot) === 0) &&
  (area.mayExec || (prot & Prot.Exec) === 0);

/**
 * Listeners hear of what Linux calls uprobe_mmap for: vmas made by splitting and merging. A change
 * of rights alone is silent there.
 */
const changeProt = (state: MemoryState, area: Area, part: Area, prot: number): void => {
  const { list, pages } = state;
  list.cut(part.start, part.end);
  const whole = list.insert(withProt(part, prot));
  pages.protect(part.start, part.end, prot);
  state.changed();
  const split = part.start !== area.start || part.end !== area.end;
  const merged = whole.start !== part.start || whole.end !== part.end;
  if (area.file !== null && (split || merged)) state.listener?.mapped(whole);
};
