/** Calls the entry handlers of one hit, arms the return, honours "remove" (spec sections 2.8 and 4.1). */
import type { Mm } from '../../kernel/mm.ts';
import type { Task } from '../../kernel/task.ts';
import { remove, sitesIn } from './breakpoint.ts';
import { type Cookie, HandlerResult, type Hit, type Via } from './consumer.ts';
import { newReturnInstance, type ReturnInstance } from './return-instances.ts';
import type { Shared } from './shared.ts';
import { type Attachment, isGone, isSession, type Uprobe } from './uprobe.ts';

/** filter_chain: whether any consumer wants this mm. */
export const isWanted = (uprobe: Uprobe, mm: Mm): boolean =>
  uprobe.attachments.some(({ consumer }) => consumer.filter?.(mm) ?? true);

const describe = (hit: Hit, task: Task, site: bigint, via: Via): void => {
  hit.task = task;
  hit.regs = task.regs;
  hit.site = site;
  hit.via = via;
};

/** Calls one handler. Anything but 0, 1 and 2 is logged, and counts as "continue". */
const call = (shared: Shared, { consumer }: Attachment, cookie: Cookie | null): number => {
  shared.hit.cookie = cookie;
  const result: number = consumer.entry?.(shared.hit) ?? HandlerResult.Continue;
  if (result < HandlerResult.Continue || result > HandlerResult.Ignore)
    shared.warnOnce(`uprobe: a handler answered ${result}`);
  return result;
};

/** The answers that keep a consumer's return handler from being armed. */
const declinesReturn = (shared: Shared, result: number): boolean =>
  shared.profile.sessions && (result === HandlerResult.Remove || result === HandlerResult.Ignore);

/** All consumers agreed, and so do all filters: the breakpoint goes, in this mm only. */
const removeHere = (shared: Shared, task: Task, uprobe: Uprobe): void => {
  if (isWanted(uprobe, task.mm)) return;
  const state = shared.mmState(task.mm);
  for (const { vma } of sitesIn(task.mm, uprobe, false)) remove(shared, state, uprobe, vma);
};

const armReturn = (shared: Shared, task: Task, instance: ReturnInstance): void => {
  if (shared.rules.arm(shared, task, instance)) return;
  shared.counters.missedReturns++;
  for (const attachment of instance.uprobe?.attachments ?? [])
    if (attachment.consumer.return !== undefined) attachment.missed++;
};

/**
 * handler_chain. Registers are as before the probed instruction, ip = `site`; handlers may change
 * them. Preconditions: the task is current.
 */
export const runEntryHandlers = (
  shared: Shared,
  task: Task,
  uprobe: Uprobe,
  site: bigint,
  via: Via,
): void => {
  const { attachments } = uprobe;
  const { sessions } = shared.profile;
  let allRemove = attachments.length > 0;
  let instance: ReturnInstance | null = null;
  describe(shared.hit, task, site, via);
  for (const attachment of attachments) {
    if (isGone(uprobe, attachments, attachment)) continue;
    const { consumer } = attachment;
    const cookie = sessions && isSession(attachment) ? { value: 0n } : null;
    const result = call(shared, attachment, cookie);
    if (result !== HandlerResult.Remove) allRemove = false;
    if (consumer.return === undefined || declinesReturn(shared, result)) continue;
    instance ??= newReturnInstance(uprobe);
    if (cookie !== null) instance.records.push({ attachment: attachment.id, cookie });
  }
  // Before sessions a hit that all consumers gave up was not armed; one of them was enough to arm it.
  if (instance !== null && (sessions || !allRemove)) armReturn(shared, task, instance);
  if (allRemove) removeHere(shared, task, uprobe);
};
