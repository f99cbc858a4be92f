/** Putting breakpoints into mappings and taking them out again (spec sections 2.3, 2.4 and 2.6). */
import { PAGE_MASK } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import type { Mm } from '../../kernel/mm.ts';
import { addressOfOffset, coversOffset, type Vma } from '../../memory/vma.ts';
import { COPY_SIZE } from '../arch/analyse.ts';
import type { RefusalErrno } from '../arch/analysis.ts';
import { isOptimised, unoptimise } from '../trampoline/patch.ts';
import type { MmState } from './mm-state.ts';
import type { Shared } from './shared.ts';
import { BREAKPOINT, changeText, readSite, type TextErrno } from './text.ts';
import type { Uprobe } from './uprobe.ts';

/** Why a breakpoint could not be written. */
export type InstallErrno = RefusalErrno | TextErrno | 'EIO';

/**
 * A mapping that may hold breakpoints. PROT_EXEC is not asked for, only that the file system permits
 * it: read-only private mappings are patched too.
 */
const isProbeable = (vma: Vma, installing: boolean): boolean =>
  vma.file !== null && vma.mayExec && !vma.shared && !(installing && (vma.prot & Prot.Write) !== 0);

/** Mappings of a uprobe's place in one mm, in address order. */
export const sitesIn = (
  mm: Mm,
  uprobe: Uprobe,
  installing: boolean,
): readonly { readonly vma: Vma; readonly site: bigint }[] =>
  mm.space
    .vmas()
    .filter(
      (vma) =>
        vma.file === uprobe.inode &&
        isProbeable(vma, installing) &&
        coversOffset(vma, uprobe.offset),
    )
    .map((vma) => ({ vma, site: addressOfOffset(vma, uprobe.offset) }));

export const isInstallable = (vma: Vma): boolean => isProbeable(vma, true);

/** Reads and judges the instruction, once; a failure is judged again next time. */
const prepare = (shared: Shared, uprobe: Uprobe): InstallErrno | null => {
  if (uprobe.analysis !== null) return null;
  const bytes = new Uint8Array(COPY_SIZE);
  if (uprobe.inode.read(uprobe.offset, bytes) === 0) return 'EIO';
  const pageOffset = Number(uprobe.offset & PAGE_MASK);
  const analysis = shared.rules.analyse(bytes, shared.profile, { pageOffset });
  if (analysis.verdict === 'refuse') return analysis.errno;
  uprobe.analysis = analysis;
  return null;
};

const INT3 = Uint8Array.of(BREAKPOINT);

const writeInt3 = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  site: bigint,
): TextErrno | null =>
  changeText(shared, state, uprobe, {
    vma,
    site,
    address: site,
    bytes: INT3,
    verify: ([byte]) => (byte === BREAKPOINT ? 'leave' : 'write'),
    installing: true,
    countsReference: true,
  });

/** Who asks: `self` = the probed process, else the mm of the caller, or null for none. */
export type Caller = Mm | null | 'self';

const whileChanging = <T>(state: MmState, change: () => T): T => {
  state.changing = true;
  try {
    return change();
  } finally {
    state.changing = false;
  }
};

/** install_breakpoint. */
export const install = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  caller: Caller = 'self',
): InstallErrno | null =>
  whileChanging(state, () => installLocked(shared, state, uprobe, vma, caller));

const installLocked = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  caller: Caller,
): InstallErrno | null => {
  const refusal = prepare(shared, uprobe);
  if (refusal !== null) return refusal;
  const first = !state.hasUprobes;
  state.hasUprobes = true;
  const site = addressOfOffset(vma, uprobe.offset);
  const kept = !uprobe.optimiseFailed && isOptimised(shared, state, uprobe, site, caller);
  const error = kept ? null : writeInt3(shared, state, uprobe, vma, site);
  if (error === null) state.recalc = false;
  else if (first) state.hasUprobes = false;
  return error;
};

/** remove_breakpoint: the original byte comes back, or the whole instruction of an optimised site. */
export const remove = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  caller: Caller = 'self',
): TextErrno | null => whileChanging(state, () => removeLocked(shared, state, uprobe, vma, caller));

const removeLocked = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  caller: Caller,
): TextErrno | null => {
  state.recalc = true;
  const { analysis } = uprobe;
  if (analysis === null) return null;
  const site = addressOfOffset(vma, uprobe.offset);
  if (isOptimised(shared, state, uprobe, site, caller))
    return unoptimise(shared, state, uprobe, vma, site);
  return changeText(shared, state, uprobe, {
    vma,
    site,
    address: site,
    bytes: analysis.stepping.bytes.slice(0, 1),
    verify: ([byte]) => (byte === BREAKPOINT ? 'write' : 'leave'),
    installing: false,
    countsReference: true,
  });
};

/** The byte at a site that no uprobe claims; null when it cannot be read. */
export const byteAt = (state: MmState, site: bigint): number | null =>
  readSite(state, site)?.[0] ?? null;
