/** A breakpoint was hit (spec section 3.2). Runs on the way back to user code. */
import { Reg } from '../../cpu/engine.ts';
import type { Task } from '../../kernel/task.ts';
import { optimise } from '../trampoline/patch.ts';
import { byteAt, sitesIn } from './breakpoint.ts';
import type { MmState } from './mm-state.ts';
import type { Shared } from './shared.ts';
import { forceTrap, sendTrap } from './signals.ts';
import { BREAKPOINT } from './text.ts';
import type { Uprobe } from './uprobe.ts';

/** No executable file mapping holds a uprobe any more: int3 is none of our business. */
const recalculate = (shared: Shared, state: MmState): void => {
  if (!state.recalc) return;
  state.recalc = false;
  const needed = shared.registry
    .all()
    .some((uprobe) => sitesIn(state.mm, uprobe, false).length > 0);
  if (!needed) state.hasUprobes = false;
};

/** An int3 that no uprobe claims: the program's own, or one whose probe has just gone. */
const handleStray = (shared: Shared, task: Task, state: MmState, site: bigint): void => {
  if (byteAt(state, site) === BREAKPOINT) forceTrap(shared, task);
  else task.regs.write(Reg.Rip, site);
  recalculate(shared, state);
};

/** Executes the probed instruction: emulated at once, or prepared for a step. */
const execute = (shared: Shared, task: Task, uprobe: Uprobe, site: bigint, ip: bigint): void => {
  const { analysis } = uprobe;
  if (analysis === null) return;
  if (shared.rules.emulate(task, analysis, ip)) {
    shared.counters.emulated++;
    if (analysis.handling.kind === 'call' && shared.profile.callEmulationShadowStack)
      task.mm.engine.shadowStack?.push(ip + BigInt(analysis.length));
    if (task.regs.trapFlag) sendTrap(shared, task);
    return;
  }
  shared.rules.enterStep(shared, task, uprobe, analysis, site);
};

/** handle_swbp. Preconditions: ip is after an int3. */
export const handleBreakpoint = (shared: Shared, task: Task): void => {
  const { regs } = task;
  const { registry, profile } = shared;
  const state = shared.mmState(task.mm);
  const site = regs.read(Reg.Rip) - 1n;
  if (state.area !== null && site === state.area.address) {
    shared.rules.handleTrampoline(shared, task, 'uretprobe-int3');
    return;
  }
  const uprobe = state.uprobeAt(site, registry);
  if (uprobe === undefined) {
    handleStray(shared, task, state, site);
    return;
  }
  regs.write(Reg.Rip, site);
  // Registered, but never yet judged: the instruction is simply run again.
  if (uprobe.analysis === null) return;
  shared.counters.int3Hits++;
  shared.rules.runEntryHandlers(shared, task, uprobe, site, 'int3');
  optimise(shared, state, uprobe, site);
  const ip = regs.read(Reg.Rip);
  if (profile.skipInsnWhenIpChanged && ip !== site) return;
  execute(shared, task, uprobe, site, ip);
};
