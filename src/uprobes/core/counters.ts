/** What the uprobe layer did, for `--stats`. */
export interface UprobeCounters {
  /** int3 traps that hit a probe. */
  int3Hits: number;
  /** Hits that came through system call 336. */
  optimisedHits: number;
  /** Functions that returned through a return trampoline. */
  returnHits: number;
  /** Instructions executed without a step. */
  emulated: number;
  /** Steps out of line, finished or aborted. */
  singleSteps: number;
  /** Single writes of program text: breakpoints, patching steps, restored bytes. */
  textPokes: number;
  /** `[uprobes-trampoline]` pages made. */
  trampolines: number;
  /** `[uprobes]` areas made. */
  areas: number;
  /** Sites turned into calls. */
  optimisedSites: number;
  /** Returns that were not probed: too deep, or the stack could not be read or written. */
  missedReturns: number;
}

export const newCounters = (): UprobeCounters => ({
  int3Hits: 0,
  optimisedHits: 0,
  returnHits: 0,
  emulated: 0,
  singleSteps: 0,
  textPokes: 0,
  trampolines: 0,
  areas: 0,
  optimisedSites: 0,
  missedReturns: 0,
});
