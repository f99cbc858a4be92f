/** perf: events on uprobes, opened by the guest through perf_event_open(2) or by the host. */
import { Sys } from '../../abi/syscalls.ts';
import type { FileView } from '../../kernel/files/file-view.ts';
import { perfEventOpen } from './open.ts';
import { Perf, type PerfOptions } from './perf.ts';
import { pmuFiles } from './pmu-files.ts';

export { attrOf, type PerfAttr } from './attr.ts';
export { checkPeriod } from './check.ts';
export { decodeSample, type PerfSample, type SampledRegisters } from './decode.ts';
export type { PerfEvent, PerfProgram, RecordFilter } from './event.ts';
export { Perf } from './perf.ts';

/** perf of a machine, with its system call and its files. Preconditions: nothing has run yet. */
export const makePerf = (options: PerfOptions, files: FileView): Perf => {
  const perf = new Perf(options);
  options.kernel.claimSyscall(Sys.perf_event_open, 'perf_event_open', perfEventOpen(perf));
  // Not through `mount`: whatever the guest's root has there must not matter.
  files.mounts.add(pmuFiles());
  return perf;
};
