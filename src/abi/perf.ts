/** Numbers and layouts of perf_event_open(2) (linux/perf_event.h, asm/perf_regs.h). */

/** perf_event_attr.type of the kinds that have a fixed number. */
export const PERF_TYPE_TRACEPOINT = 2;

/** Sizes of struct perf_event_attr: the first one published, and the one known here. */
export const ATTR_SIZE_VER0 = 64;
export const ATTR_SIZE = 136;

/** Offsets of its fields. */
export const AttrAt = {
  type: 0,
  size: 4,
  config: 8,
  samplePeriod: 16,
  sampleType: 24,
  readFormat: 32,
  flags: 40,
  wakeup: 48,
  bpType: 52,
  config1: 56,
  config2: 64,
  branchSampleType: 72,
  sampleRegsUser: 80,
  sampleStackUser: 88,
  clockid: 92,
  sampleRegsIntr: 96,
  auxWatermark: 104,
  sampleMaxStack: 108,
  reserved2: 110,
  auxSampleSize: 112,
  auxAction: 116,
  sigData: 120,
} as const;

/** Bits of the flags word. */
export const AttrFlag = {
  disabled: 0,
  inherit: 1,
  pinned: 2,
  exclusive: 3,
  excludeUser: 4,
  excludeKernel: 5,
  excludeHv: 6,
  excludeIdle: 7,
  mmap: 8,
  comm: 9,
  freq: 10,
  inheritStat: 11,
  enableOnExec: 12,
  task: 13,
  watermark: 14,
  mmapData: 17,
  sampleIdAll: 18,
  excludeHost: 19,
  excludeGuest: 20,
  excludeCallchainKernel: 21,
  excludeCallchainUser: 22,
  mmap2: 23,
  commExec: 24,
  useClockid: 25,
  contextSwitch: 26,
  writeBackward: 27,
  namespaces: 28,
  ksymbol: 29,
  bpfEvent: 30,
  auxOutput: 31,
  cgroup: 32,
  textPoke: 33,
  buildId: 34,
  inheritThread: 35,
  removeOnExec: 36,
  sigtrap: 37,
} as const;
export type AttrFlagName = keyof typeof AttrFlag;
/** First bit without a meaning. */
export const ATTR_FLAGS_END = 38;

/** PERF_SAMPLE_*. */
export const Sample = {
  IP: 1 << 0,
  TID: 1 << 1,
  TIME: 1 << 2,
  ADDR: 1 << 3,
  READ: 1 << 4,
  CALLCHAIN: 1 << 5,
  ID: 1 << 6,
  CPU: 1 << 7,
  PERIOD: 1 << 8,
  STREAM_ID: 1 << 9,
  RAW: 1 << 10,
  BRANCH_STACK: 1 << 11,
  REGS_USER: 1 << 12,
  STACK_USER: 1 << 13,
  WEIGHT: 1 << 14,
  DATA_SRC: 1 << 15,
  IDENTIFIER: 1 << 16,
  TRANSACTION: 1 << 17,
  REGS_INTR: 1 << 18,
  PHYS_ADDR: 1 << 19,
  AUX: 1 << 20,
  CGROUP: 1 << 21,
  DATA_PAGE_SIZE: 1 << 22,
  CODE_PAGE_SIZE: 1 << 23,
  WEIGHT_STRUCT: 1 << 24,
} as const;
export type SampleName = keyof typeof Sample;
export const SAMPLE_MAX = 1n << 25n;

/** PERF_FORMAT_*. */
export const Format = { ENABLED: 1, RUNNING: 2, ID: 4, GROUP: 8, LOST: 16 } as const;
export const FORMAT_MAX = 1n << 5n;

/** Flags of perf_event_open. */
export const OpenFlag = { FD_NO_GROUP: 1, FD_OUTPUT: 2, PID_CGROUP: 4, FD_CLOEXEC: 8 } as const;
export const OPEN_FLAGS = 15;

/** Requests of ioctl. */
export const PerfIoc = {
  ENABLE: 0x2400,
  DISABLE: 0x2401,
  REFRESH: 0x2402,
  RESET: 0x2403,
  PERIOD: 0x40082404,
  SET_OUTPUT: 0x2405,
  SET_FILTER: 0x40082406,
  ID: 0x80082407,
  SET_BPF: 0x40042408,
  PAUSE_OUTPUT: 0x40042409,
  QUERY_BPF: 0xc008240a,
  MODIFY_ATTRIBUTES: 0x4008240b,
} as const;
export const PERF_IOC_FLAG_GROUP = 1n;

/** PERF_RECORD_* that are written here. */
export const RecordType = { LOST: 2, SAMPLE: 9 } as const;
/** PERF_RECORD_MISC_USER. */
export const MISC_USER = 2;
export const RECORD_HEADER_SIZE = 8;

/** PERF_CONTEXT_USER: what follows in a call chain are user addresses. */
export const CONTEXT_USER = -512n;
/** PERF_SAMPLE_REGS_ABI_64. */
export const REGS_ABI_64 = 2n;
/** PERF_MEM_NA: nothing known of the memory access (every field's "not available"). */
export const MEM_NA = 0x1e05080021n;

/** Offsets in struct perf_event_mmap_page. */
export const MmapPage = {
  lock: 8,
  index: 12,
  offset: 16,
  timeEnabled: 24,
  timeRunning: 32,
  capabilities: 40,
  size: 72,
  dataHead: 1024,
  dataTail: 1032,
  dataOffset: 1040,
  dataSize: 1048,
} as const;
/** Bytes of its described part. */
export const MMAP_PAGE_SIZE = 96;
/** cap_bit0_is_deprecated: neither rdpmc nor the user's clock can be used. */
export const MMAP_CAPABILITIES = 2n;

/** Bits of a register mask: index of each register (enum perf_event_x86_regs). */
export const PerfRegs = [
  'ax',
  'bx',
  'cx',
  'dx',
  'si',
  'di',
  'bp',
  'sp',
  'ip',
  'flags',
  'cs',
  'ss',
  'ds',
  'es',
  'fs',
  'gs',
  'r8',
  'r9',
  'r10',
  'r11',
  'r12',
  'r13',
  'r14',
  'r15',
] as const;
export type PerfRegister = (typeof PerfRegs)[number];
/** ds, es, fs and gs are not to be had of a 64-bit task; 24 to 31 mean nothing; from 32 on XMM. */
export const REGS_REFUSED = 0xff00f000n;
export const REGS_EXTENDED = 0xffffffff00000000n;

/** kernel.perf_event_max_sample_rate and kernel.perf_event_max_stack of an untouched system. */
export const MAX_SAMPLE_RATE = 100_000n;
export const MAX_STACK = 127;
