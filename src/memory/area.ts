import { greatest, least } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import type { Vma } from './vma.ts';

/** A vma with what only this layer needs to know of it. Objects never change: a new one replaces the old. */
export interface Area extends Vma {
  /**
   * VM_ACCOUNT: private and writable now or once. It stays after mprotect takes the right away,
   * which is why RELRO data and the read-only segment before it remain two lines in maps.
   */
  readonly accounted: boolean;
}

/** The part of an area inside [start, end). Preconditions: not empty. */
export const clip = (area: Area, start: bigint, end: bigint): Area => {
  const low = greatest(start, area.start);
  return {
    ...area,
    start: low,
    end: least(end, area.end),
    offset: area.file === null ? 0n : area.offset + (low - area.start),
  };
};

/** is_mergeable_vma: `high` may become part of `low`. */
export const mergeable = (low: Area, high: Area): boolean =>
  low.end === high.start &&
  low.prot === high.prot &&
  low.shared === high.shared &&
  low.growsDown === high.growsDown &&
  low.file === high.file &&
  (low.file === null || low.offset + (low.end - low.start) === high.offset) &&
  low.mayExec === high.mayExec &&
  low.accounted === high.accounted &&
  low.label === high.label &&
  // Special mappings are VM_DONTEXPAND.
  low.special === null &&
  high.special === null;

/** The area with other rights. */
export const withProt = (area: Area, prot: number): Area => ({
  ...area,
  prot,
  accounted: area.accounted || isAccounted(area.shared, prot),
});

export const isAccounted = (shared: boolean, prot: number): boolean =>
  !shared && (prot & Prot.Write) !== 0;

/**
 * Whether user code may access a page in this way. x86 pages have no read bit: what is present can
 * be read, so PROT_EXEC or PROT_WRITE alone permit reading (no protection keys here).
 */
export const permits = (prot: number, access: 'read' | 'write' | 'exec'): boolean => {
  if (access === 'write') return (prot & Prot.Write) !== 0;
  if (access === 'exec') return (prot & Prot.Exec) !== 0;
  return prot !== Prot.None;
};

/** Rights the engine must be given so that it behaves like x86 page tables. */
export const pageRights = (prot: number): number => (prot === Prot.None ? 0 : prot | Prot.Read);
