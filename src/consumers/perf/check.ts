/** What perf_event_open refuses of an attribute that is well-formed. */
import type { ErrnoName } from '../../abi/errno.ts';
import { type AttrFlagName, MAX_STACK, REGS_EXTENDED, Sample } from '../../abi/perf.ts';
import type { PerfAttr } from './attr.ts';
import type { PerfEvent, PerfTarget } from './event.ts';
import { validPeriod } from './period.ts';

/** CPUs of a machine. */
const CPUS = 1;

/** Clocks that may stamp samples: they can be read in any context, or are not of another zone. */
const CLOCKS: ReadonlySet<number> = new Set([1 /* MONOTONIC */, 4 /* MONOTONIC_RAW */]);

type Rule = readonly [errno: ErrnoName, isWrong: (attr: PerfAttr, target: PerfTarget) => boolean];

const samples = (attr: PerfAttr, type: number): boolean => (attr.sampleType & type) !== 0;

/** perf_event_alloc, before the kind of event is asked. */
const BEFORE_KIND: readonly Rule[] = [
  ['EINVAL', (_, { cpu, task }) => (cpu !== -1 ? cpu < 0 || cpu >= CPUS : task === null)],
  ['EINVAL', ({ flags }, { task }) => flags.has('sigtrap') && task === null],
  [
    'EINVAL',
    (attr) => attr.flags.has('inherit') && samples(attr, Sample.READ) && !samples(attr, Sample.TID),
  ],
];

/** What the kind of event decides: uprobes and tracepoints alike. */
const KIND: readonly Rule[] = [['EOPNOTSUPP', (attr) => samples(attr, Sample.BRANCH_STACK)]];

/** perf_event_alloc, once the kind of event has been found. */
const AFTER_KIND: readonly Rule[] = [
  [
    'EOPNOTSUPP',
    (attr) =>
      (samples(attr, Sample.REGS_USER) && (attr.regsUser & REGS_EXTENDED) !== 0n) ||
      (samples(attr, Sample.REGS_INTR) && (attr.regsIntr & REGS_EXTENDED) !== 0n),
  ],
  ['EOPNOTSUPP', ({ flags, auxAction }) => flags.has('auxOutput') || auxAction !== 0],
  ['EOVERFLOW', (attr) => samples(attr, Sample.CALLCHAIN) && attr.maxStack > MAX_STACK],
  ['EINVAL', ({ flags, clockid }) => flags.has('useClockid') && !CLOCKS.has(clockid)],
  // Only what belongs to a group with an AUX area may have samples of it.
  ['EINVAL', ({ auxSampleSize }) => auxSampleSize !== 0],
];

const firstWrong = (rules: readonly Rule[], attr: PerfAttr, target: PerfTarget): ErrnoName | null =>
  rules.find(([, isWrong]) => isWrong(attr, target))?.[0] ?? null;

/** The period, which is looked at before everything else. */
export const checkPeriod = ({ samplePeriod, flags }: PerfAttr): ErrnoName | null =>
  validPeriod(samplePeriod, flags.has('freq')) ? null : 'EINVAL';

export const checkBeforeKind = (attr: PerfAttr, target: PerfTarget): ErrnoName | null =>
  firstWrong(BEFORE_KIND, attr, target);

export const checkKind = (attr: PerfAttr, target: PerfTarget): ErrnoName | null =>
  firstWrong(KIND, attr, target);

export const checkAfterKind = (attr: PerfAttr, target: PerfTarget): ErrnoName | null =>
  firstWrong(AFTER_KIND, attr, target);

/** Whether an event may be a sibling of a leader. */
export const checkGroup = (event: PerfEvent, leader: PerfEvent): ErrnoName | null => {
  const fits =
    leader.leader === leader &&
    leader.clockid === event.clockid &&
    leader.target.cpu === event.target.cpu &&
    leader.target.task === event.target.task &&
    !event.attr.flags.has('exclusive') &&
    !event.attr.flags.has('pinned');
  return fits ? null : 'EINVAL';
};

/** Flags that ask for records besides samples, which nobody writes here. */
const SILENT: readonly AttrFlagName[] = [
  'mmap',
  'comm',
  'task',
  'mmapData',
  'mmap2',
  'contextSwitch',
  'namespaces',
  'ksymbol',
  'bpfEvent',
  'cgroup',
  'textPoke',
  'sigtrap',
];

/** What an attribute asks for that has no effect here; null = nothing. */
export const withoutEffect = ({ flags }: PerfAttr): string | null => {
  const names = SILENT.filter((name) => flags.has(name));
  return names.length === 0 ? null : `perf_event_open: ${names.join(', ')} without effect here`;
};
