import { greatest, least } from '../base/bytes.ts';
import { Prot } from '../cpu/engine.ts';
import type { Vma } from './vma.ts';

/** A vma with what only this layer needs to know of it. Objects never change: a new one replaces the old. */
export interface Area extends Vma {
  /**
   * VM_ACCOUNT: private and writable, now or once. It stays when mprotect takes the right away from
   * memory that has pages: RELRO data and the read-only segment before it remain two lines in maps.
   */
  readonly accounted: boolean;
  /** VM_MAYREAD, VM_MAYWRITE, VM_MAYEXEC: what mprotect may ever give it. */
  readonly mayProt: number;
  /** Number of the anon_vma, 0 before the first private page: areas with different ones do not merge. */
  readonly anonVma: number;
  /**
   * vm_pgoff in bytes: the file offset, or the address at which anonymous memory was mapped first
   * (mremap leaves it alone once there are pages). Only what continues it can be merged.
   */
  readonly pageOffset: bigint;
}

/** The part of an area inside [start, end). Preconditions: not empty. */
export const clip = (area: Area, start: bigint, end: bigint): Area => {
  const low = greatest(start, area.start);
  const pageOffset = area.pageOffset + (low - area.start);
  return {
    ...area,
    start: low,
    end: least(end, area.end),
    offset: area.file === null ? 0n : pageOffset,
    pageOffset,
  };
};

/** is_mergeable_vma: `high` may become part of `low`. */
export const mergeable = (low: Area, high: Area): boolean =>
  low.end === high.start &&
  low.prot === high.prot &&
  low.shared === high.shared &&
  low.growsDown === high.growsDown &&
  low.file === high.file &&
  low.pageOffset + (low.end - low.start) === high.pageOffset &&
  (low.anonVma === 0 || high.anonVma === 0 || low.anonVma === high.anonVma) &&
  low.mayProt === high.mayProt &&
  low.accounted === high.accounted &&
  low.label === high.label &&
  // Special mappings are VM_DONTEXPAND.
  low.special === null &&
  high.special === null;

/** Preconditions: {@link mergeable}. */
export const merge = (low: Area, high: Area): Area => ({
  ...low,
  end: high.end,
  anonVma: low.anonVma === 0 ? high.anonVma : low.anonVma,
});

/** The area with other rights (mprotect_fixup): anonymous memory without pages is un-accounted. */
export const withProt = (area: Area, prot: number): Area => {
  const kept = area.accounted && (area.file !== null || area.anonVma !== 0);
  return { ...area, prot, accounted: kept || isAccounted(area.shared, prot) };
};

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
