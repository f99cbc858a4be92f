/** uprobe_register and uprobe_unregister (spec sections 2.2 and 2.8). */
import { s64 } from '../../base/bytes.ts';
import type { Inode } from '../../memory/backing.ts';
import { type Caller, type InstallErrno, install, remove, sitesIn } from './breakpoint.ts';
import type { Consumer } from './consumer.ts';
import { isWanted } from './entry-handlers.ts';
import { settleAll, settleExpired } from './leases.ts';
import type { Shared } from './shared.ts';
import type { Attachment, Uprobe } from './uprobe.ts';

/** Why a registration failed, by the kernel's name. */
export type RegisterErrno = InstallErrno;

export interface RegisterOptions {
  /** File offset of a 16-bit reference counter; default 0 = none. */
  readonly refCtrOffset?: bigint;
  /**
   * Address space of the process that asks; null = one without a probed mapping, such as a tracing
   * tool. Only profiles without `unoptimiseUsesProbedMm` care. Default `self`: each probed process.
   */
  readonly caller?: Caller;
}

/** An attached consumer. */
export interface Registration {
  readonly uprobe: Uprobe;
  readonly attachment: Attachment;
}

const check = (
  shared: Shared,
  inode: Inode,
  offset: bigint,
  consumer: Consumer,
  refCtrOffset: bigint,
): 'EINVAL' | null => {
  if (consumer.entry === undefined && consumer.return === undefined) return 'EINVAL';
  if (s64(offset) > inode.size) return 'EINVAL';
  if (refCtrOffset & 1n) return 'EINVAL';
  const uprobe = shared.registry.find(inode, offset);
  return uprobe !== undefined && uprobe.refCtrOffset !== refCtrOffset ? 'EINVAL' : null;
};

const installEverywhere = (
  shared: Shared,
  uprobe: Uprobe,
  consumer: Consumer,
  caller: Caller,
): InstallErrno | null => {
  for (const mm of shared.kernel.mms())
    for (const { vma } of sitesIn(mm, uprobe, true)) {
      // Only the new consumer is asked.
      if (consumer.filter?.(mm) === false) continue;
      const error = install(shared, shared.mmState(mm), uprobe, vma, caller);
      if (error !== null) return error;
    }
  return null;
};

/** False when a breakpoint could not be taken out: the uprobe stays then. */
const removeUnwanted = (shared: Shared, uprobe: Uprobe, caller: Caller): boolean => {
  let done = true;
  for (const mm of shared.kernel.mms()) {
    const state = shared.mmState(mm);
    for (const { vma } of sitesIn(mm, uprobe, false)) {
      if (!state.hasUprobes || isWanted(uprobe, mm)) continue;
      if (remove(shared, state, uprobe, vma, caller) !== null) done = false;
    }
  }
  return done;
};

/** Attaches, or says by the kernel's errno name why not. */
export const register = (
  shared: Shared,
  inode: Inode,
  offset: bigint,
  consumer: Consumer,
  { refCtrOffset = 0n, caller = 'self' }: RegisterOptions = {},
): Registration | RegisterErrno => {
  const refusal = check(shared, inode, offset, consumer, refCtrOffset);
  if (refusal !== null) return refusal;
  const { registry } = shared;
  const uprobe = registry.find(inode, offset) ?? registry.add(inode, offset, refCtrOffset);
  const attachment: Attachment = { id: shared.nextAttachment++, consumer, missed: 0 };
  uprobe.attachments = [attachment, ...uprobe.attachments];
  uprobe.references++;
  const error = installEverywhere(shared, uprobe, consumer, caller);
  if (error === null) return { uprobe, attachment };
  unregister(shared, { uprobe, attachment }, caller);
  return error;
};

/** Detaches; afterwards no handler of this consumer runs. A second call does nothing. */
export const unregister = (
  shared: Shared,
  { uprobe, attachment }: Registration,
  caller: Caller = 'self',
): void => {
  if (!uprobe.attachments.includes(attachment)) return;
  settleExpired(shared);
  uprobe.attachments = uprobe.attachments.filter((other) => other !== attachment);
  if (removeUnwanted(shared, uprobe, caller)) shared.release(uprobe);
  else shared.kernel.log(`uprobe: unregister, leaking uprobe at ${uprobe.inode.path}`);
  settleAll(shared);
};

/**
 * uprobe_apply: the filter of an attached consumer answers differently now. `add`: breakpoints go
 * where it is wanted; otherwise they go away where nobody wants them.
 */
export const apply = (
  shared: Shared,
  { uprobe, attachment }: Registration,
  add: boolean,
  caller: Caller = 'self',
): RegisterErrno | 'ENOENT' | null => {
  if (!uprobe.attachments.includes(attachment)) return 'ENOENT';
  if (add) return installEverywhere(shared, uprobe, attachment.consumer, caller);
  removeUnwanted(shared, uprobe, caller);
  return null;
};
