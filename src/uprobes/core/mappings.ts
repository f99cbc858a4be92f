/** What happens when mappings come and go (spec section 2.7). */
import { Prot } from '../../cpu/engine.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Vma } from '../../memory/vma.ts';
import { install, isInstallable } from './breakpoint.ts';
import { isWanted } from './entry-handlers.ts';
import { countPending } from './ref-counter.ts';
import type { Shared } from './shared.ts';

const isWritablePrivate = (vma: Vma): boolean => !vma.shared && (vma.prot & Prot.Write) !== 0;

/** uprobe_mmap. Errors are ignored: the mapping succeeds without its breakpoints. */
export const mapped = (shared: Shared, mm: Mm, vma: Vma): void => {
  if (vma.file === null || shared.registry.isEmpty) return;
  const state = shared.mmState(mm);
  if (isWritablePrivate(vma) && state.hasUprobes) countPending(shared, state, vma);
  if (!isInstallable(vma)) return;
  for (const uprobe of shared.registry.inVma(vma))
    if (isWanted(uprobe, mm)) install(shared, state, uprobe, vma);
};

/** uprobe_munmap: the mm may have lost its last breakpoint. */
export const unmapping = (shared: Shared, mm: Mm, start: bigint, end: bigint): void => {
  const state = shared.mmState(mm);
  if (!state.hasUprobes || state.recalc) return;
  state.recalc = mm.space
    .vmas()
    .some((vma) => vma.start < end && vma.end > start && shared.registry.inVma(vma).length > 0);
};
