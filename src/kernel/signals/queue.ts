/** Which pending signal comes next, and what is dropped instead of queued. */

import {
  defaultAction,
  SIG_DFL,
  SIG_IGN,
  Sig,
  type SignalName,
  sigBit,
} from '../../abi/signals.ts';
import type { Task } from '../task.ts';
import type { PendingSignals } from './pending.ts';
import type { SignalInfo } from './siginfo.ts';

const setOf = (...names: readonly SignalName[]): bigint =>
  names.reduce((set, name) => set | sigBit(Sig[name]), 0n);

/** SYNCHRONOUS_MASK: what an instruction of the task itself caused. */
const SYNCHRONOUS = setOf('SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGTRAP', 'SIGFPE', 'SIGSYS');
const STOPPING = setOf('SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU');
const CONTINUING = setOf('SIGCONT');

/** Something is pending that is not blocked. */
export const hasDeliverable = (task: Task): boolean => {
  const own = task.pending.mask;
  const shared = task.group.pending.mask;
  if (own === 0n && shared === 0n) return false;
  return ((own | shared) & ~task.blocked) !== 0n;
};

/** The default action, or the handler SIG_IGN, does nothing with it. */
export const isIgnored = (task: Task, signal: number): boolean => {
  const { handler } = task.actions.get(signal);
  if (handler !== SIG_DFL) return handler === SIG_IGN;
  const reaction = defaultAction(signal);
  return reaction === 'ignore' || reaction === 'continue';
};

/**
 * prepare_signal: SIGCONT and the stopping signals cancel each other. Returns whether the signal is
 * to be queued at all (sig_ignored: an ignored one only while it is blocked).
 */
export const prepareSignal = (task: Task, signal: number): boolean => {
  const bit = sigBit(signal);
  if ((bit & STOPPING) !== 0n) discardEverywhere(task, CONTINUING);
  if ((bit & CONTINUING) !== 0n) discardEverywhere(task, STOPPING);
  return (task.blocked & bit) !== 0n || !isIgnored(task, signal);
};

/** Drops pending signals of the whole process. */
export const discardEverywhere = (task: Task, set: bigint): void => {
  task.group.pending.discard(set);
  for (const thread of task.group.threads) thread.pending.discard(set);
};

/** dequeue_signal: what is taken next, or null. Faults of the task's own instructions go first. */
export const takeSignal = (task: Task): SignalInfo | null =>
  takeSynchronous(task) ??
  takeFrom(task.pending, ~task.blocked) ??
  takeFrom(task.group.pending, ~task.blocked);

/** Takes the signal of a set that dequeue_signal would take, or null. */
export const takeFrom = (pending: PendingSignals, wanted: bigint): SignalInfo | null => {
  let set = pending.mask & wanted;
  if (set === 0n) return null;
  if ((set & SYNCHRONOUS) !== 0n) set &= SYNCHRONOUS;
  return pending.take(lowestSignal(set));
};

const takeSynchronous = (task: Task): SignalInfo | null => {
  const set = task.pending.mask & SYNCHRONOUS & ~task.blocked;
  if (set === 0n) return null;
  const info = task.pending.find((one) => one.code > 0 && (sigBit(one.signal) & set) !== 0n);
  return info === undefined ? null : task.pending.take(info.signal);
};

const lowestSignal = (set: bigint): number => {
  let signal = 1;
  while ((set & sigBit(signal)) === 0n) signal++;
  return signal;
};
