/** Copies of all memory. A second restore of the same snapshot copies only what has changed since. */
import type { CpuContext, EngineSnapshot } from '../engine.ts';
import { type GuestMemory, PAGE, type PageImage } from './memory.ts';

export interface Snapshot extends EngineSnapshot {
  readonly context: CpuContext;
  readonly instructions: number;
  /** By page address. */
  readonly pages: ReadonlyMap<number, PageImage>;
}

/** Copies every page, and watches from now on for changes. */
export const copyPages = (memory: GuestMemory): Map<number, PageImage> => {
  const pages = new Map<number, PageImage>();
  for (const { address, prot } of memory.pages()) {
    const bytes = new Uint8Array(PAGE);
    memory.read(address, bytes);
    pages.set(address, { prot, bytes });
    memory.markClean(address);
  }
  return pages;
};

/**
 * Makes memory what it was.
 * @param unchanged pages not marked dirty are known to be as in `pages`
 * @param forget called with a page whose code is about to change
 */
export const restorePages = (
  memory: GuestMemory,
  pages: ReadonlyMap<number, PageImage>,
  unchanged: boolean,
  forget: (address: number) => void,
): void => {
  for (const { address } of [...memory.pages()])
    if (!pages.has(address)) {
      forget(address);
      memory.unmap(address, PAGE);
    }
  for (const [address, { prot, bytes }] of pages) {
    const now = memory.protAt(address);
    if (now === undefined) memory.map(address, PAGE, prot);
    else if (now !== prot) {
      forget(address);
      memory.protect(address, PAGE, prot);
    }
    if (now !== undefined && unchanged && !memory.isDirty(address)) continue;
    if (memory.write(address, bytes)) forget(address);
    memory.markClean(address);
  }
};
