/** Pending returns of a task: arming them at entry, running them at return (spec section 4). */
import { u64, view } from '../../base/bytes.ts';
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import { areaOf } from '../xol/area.ts';
import type { Cookie, Via } from './consumer.ts';
import type { Shared } from './shared.ts';
import { forceIll, forceSegv } from './signals.ts';
import type { TaskState } from './task-state.ts';
import { type Attachment, isGone, isSession, type Uprobe } from './uprobe.ts';

/** One session consumer of one call. */
interface SessionRecord {
  readonly attachment: number;
  readonly cookie: Cookie;
}

/** A probed function that has not returned yet. */
export interface ReturnInstance {
  /** Null: the uprobe went away meanwhile; the return address is restored, nobody is called. */
  uprobe: Uprobe | null;
  /** A lease keeps the uprobe for a while without a reference; see `leases.ts`. */
  leased: boolean;
  /** Address of the function: ip at entry. */
  func: bigint;
  /** sp at entry, where the return address lies. */
  stack: bigint;
  /** Where the function returns to. */
  original: bigint;
  /** The stack held the trampoline already: this call was entered by a jump from a probed one. */
  chained: boolean;
  /** In the order of the entry handlers. */
  readonly records: SessionRecord[];
}

/** Pending returns a task may have. */
export const MAX_DEPTH = 64;

export const newReturnInstance = (uprobe: Uprobe): ReturnInstance => ({
  uprobe,
  leased: true,
  func: 0n,
  stack: 0n,
  original: 0n,
  chained: false,
  records: [],
});

/** A frame below `sp` is gone. `atCall`: sp was just lowered by the call itself. */
export const isAlive = (instance: ReturnInstance, sp: bigint, atCall: boolean): boolean =>
  atCall ? sp < instance.stack : sp <= instance.stack;

/** An instance that was popped lets its uprobe go. */
const release = (shared: Shared, { leased, uprobe }: ReturnInstance): void => {
  if (!leased && uprobe !== null) shared.release(uprobe);
};

/** All pending returns of a task that ends. */
export const dropInstances = (shared: Shared, { instances }: TaskState): void => {
  for (const instance of instances.splice(0)) release(shared, instance);
};

/** Instances of frames that were left by longjmp: their handlers never run. */
const dropStale = (shared: Shared, taskState: TaskState, sp: bigint, atCall: boolean): void => {
  for (;;) {
    const newest = taskState.instances.at(-1);
    if (newest === undefined || shared.rules.isAlive(newest, sp, atCall)) return;
    taskState.instances.pop();
    release(shared, newest);
  }
};

const returnAddress = new Uint8Array(8);

/**
 * Makes the word at sp the trampoline's address, and with it the shadow stack's newest entry, which
 * the function's own ret will be compared with. A half-written address kills the program.
 */
const hijack = (shared: Shared, task: Task, sp: bigint, trampoline: bigint): boolean => {
  const { space, engine } = task.mm;
  view(returnAddress).setBigUint64(0, trampoline, true);
  const stored = space.write(sp, returnAddress);
  if (stored === returnAddress.length) {
    const kept = !shared.profile.uretShadowStack || engine.shadowStack?.replaceTop(trampoline);
    if (kept === false) forceSegv(shared, task);
    return kept !== false;
  }
  if (stored > 0) {
    shared.kernel.log(
      `uprobe: return address clobbered: pid=${task.tid}, %sp=0x${sp.toString(16)}, %ip=0x${task.regs.read(Reg.Rip).toString(16)}`,
    );
    forceSegv(shared, task);
  }
  return false;
};

/**
 * prepare_uretprobe: makes the function return to the trampoline.
 * @returns false when this call's return is not probed
 */
export const arm = (shared: Shared, task: Task, instance: ReturnInstance): boolean => {
  const { space } = task.mm;
  const taskState = shared.taskState(task);
  const area = areaOf(shared, shared.mmState(task.mm));
  if (area === null) return false;
  if (taskState.instances.length >= MAX_DEPTH) {
    shared.warnOnce(
      `uprobe: omit uretprobe due to nestedness limit pid/tgid=${task.tid}/${task.tgid}`,
    );
    return false;
  }
  const sp = task.regs.read(Reg.Rsp);
  const word = space.readU64(sp);
  if (word === undefined) return false;
  const chained = word === area.address;
  if (!chained && !hijack(shared, task, sp, area.address)) return false;
  dropStale(shared, taskState, sp, !chained);
  const newest = taskState.instances.at(-1);
  if (chained && newest === undefined) {
    shared.kernel.log(`uprobe: handle tail call pid/tgid=${task.tid}/${task.tgid}`);
    return false;
  }
  instance.original = chained && newest !== undefined ? newest.original : word;
  instance.func = task.regs.read(Reg.Rip);
  instance.stack = sp;
  instance.chained = chained;
  taskState.instances.push(instance);
  taskState.lastArmed = shared.kernel.now();
  return true;
};

/** Where in `records` the search for the next consumer goes on: both lists have one order. */
let recordIndex = 0;

const cookieOf = ({ records }: ReturnInstance, attachment: Attachment): Cookie | null => {
  for (let i = recordIndex; i < records.length; i++) {
    const record = records[i];
    if (record?.attachment !== attachment.id) continue;
    recordIndex = i + 1;
    return record.cookie;
  }
  return null;
};

const runReturnHandlers = (
  shared: Shared,
  task: Task,
  instance: ReturnInstance,
  via: Via,
): void => {
  const { hit, profile } = shared;
  recordIndex = 0;
  const { uprobe } = instance;
  if (uprobe === null) return;
  const { attachments } = uprobe;
  for (const attachment of attachments) {
    const { consumer } = attachment;
    if (consumer.return === undefined || isGone(uprobe, attachments, attachment)) continue;
    const cookie = cookieOf(instance, attachment);
    if (profile.sessions && isSession(attachment) && cookie === null) continue;
    hit.task = task;
    hit.regs = task.regs;
    hit.site = instance.func;
    hit.via = via;
    hit.cookie = cookie;
    consumer.return(hit);
  }
};

/** Index of the oldest instance of the newest chain. */
const chainStart = (instances: readonly ReturnInstance[]): number => {
  let index = instances.length - 1;
  while (index > 0 && instances[index]?.chained === true) index--;
  return index;
};

/** One chain: all its instances share one return address. */
const returnChain = (shared: Shared, task: Task, taskState: TaskState, via: Via): boolean => {
  const { instances } = taskState;
  const start = chainStart(instances);
  const next = instances[start - 1];
  const valid = next === undefined || shared.rules.isAlive(next, task.regs.read(Reg.Rsp), false);
  task.regs.write(Reg.Rip, instances.at(-1)?.original ?? 0n);
  while (instances.length > start) {
    const instance = instances.pop();
    if (instance === undefined) break;
    if (valid) runReturnHandlers(shared, task, instance, via);
    release(shared, instance);
  }
  return valid;
};

/** uprobe_handle_trampoline: a function returned to the trampoline. ip, ax and sp are as after its ret. */
export const handleTrampoline = (shared: Shared, task: Task, via: Via): void => {
  const taskState = shared.findTaskState(task);
  if (taskState === undefined || taskState.instances.length === 0) {
    shared.kernel.log(`uprobe: handle uretprobe, sending SIGILL pid/tgid=${task.tid}/${task.tgid}`);
    forceIll(shared, task);
    return;
  }
  shared.counters.returnHits++;
  while (!returnChain(shared, task, taskState, via));
};

/** A saved copy of the pending returns, oldest first. */
export const copyInstances = (instances: readonly ReturnInstance[]): ReturnInstance[] =>
  instances.map((instance) => ({
    ...instance,
    records: instance.records.map(({ attachment, cookie }) => ({
      attachment,
      cookie: { value: u64(cookie.value) },
    })),
  }));
