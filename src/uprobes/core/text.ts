/** The generic write of program text (spec section 2.6, second table). */
import type { Vma } from '../../memory/vma.ts';
import type { MmState } from './mm-state.ts';
import { changeRefCounter } from './ref-counter.ts';
import type { Shared } from './shared.ts';
import type { Uprobe } from './uprobe.ts';

export const BREAKPOINT = 0xcc;

/** Errors a write can end with; null = done, or nothing to do. */
export type TextErrno = 'EINVAL' | 'EFAULT' | 'EPERM' | 'ENOMEM';

/** What is at the site now, and what to do about it: write, leave it (success), or fail. */
export type Verify = (current: Uint8Array) => 'write' | 'leave' | 'fail';

export interface TextChange {
  readonly vma: Vma;
  /** Address of the probed instruction; {@link Verify} sees the bytes from here. */
  readonly site: bigint;
  readonly address: bigint;
  readonly bytes: Uint8Array;
  readonly verify: Verify;
  /** Installing makes a private copy of the page; removing writes only into one that exists. */
  readonly installing: boolean;
  /** The write that counts for the reference counter. */
  readonly countsReference: boolean;
}

/** Bytes of the longest optimised site. */
const LOOK_AT = 10;

const siteBytes = new Uint8Array(LOOK_AT);

/** The bytes at a site as they are in memory; null when the first cannot be read. */
export const readSite = (state: MmState, site: bigint): Uint8Array | null => {
  siteBytes.fill(0);
  return state.mm.space.readForced(site, siteBytes) === 0 ? null : siteBytes;
};

/** Writes the process's own copy of the page; the file keeps its bytes. */
export const storeText = ({ mm }: MmState, address: bigint, bytes: Uint8Array): TextErrno | null =>
  mm.space.writeText(address, bytes) as TextErrno | null;

/** Stores the bytes and tells whoever watches. */
const store = (shared: Shared, state: MmState, { address, bytes, site }: TextChange) => {
  const error = shared.rules.storeText(state, address, bytes);
  if (error !== null) return error;
  shared.counters.textPokes++;
  shared.testHooks.textWritten?.({ mm: state.mm, address, bytes, site });
  return null;
};

export const changeText = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  change: TextChange,
): TextErrno | null => {
  const { space } = state.mm;
  const { vma, site, address, installing, countsReference } = change;
  if (vma.shared) return 'EINVAL';
  const current = readSite(state, site);
  if (current === null) return 'EFAULT';
  const verdict = change.verify(current);
  if (verdict !== 'write') return verdict === 'leave' ? null : 'EPERM';
  const step = installing ? 1 : -1;
  if (countsReference) {
    const error = changeRefCounter(shared, state, uprobe, step);
    if (error !== null) return error;
  }
  if (!installing && !space.isAnonymous(address)) return null;
  const error = store(shared, state, change);
  if (error !== null) {
    if (countsReference) changeRefCounter(shared, state, uprobe, -step);
    return error;
  }
  if (!installing) space.dropIfPristine(address);
  return null;
};
