/** struct perf_event_attr from user memory (perf_copy_attr), with the checks that need nothing else. */
import type { ErrnoName } from '../../abi/errno.ts';
import {
  ATTR_FLAGS_END,
  ATTR_SIZE,
  ATTR_SIZE_VER0,
  AttrAt,
  AttrFlag,
  type AttrFlagName,
  FORMAT_MAX,
  MAX_STACK,
  REGS_REFUSED,
  SAMPLE_MAX,
  Sample,
} from '../../abi/perf.ts';
import { PAGE_SIZE, view } from '../../base/bytes.ts';
import type { AddressSpace } from '../../memory/address-space.ts';

/** The fields that mean something for uprobes. */
export interface PerfAttr {
  readonly type: number;
  readonly config: bigint;
  readonly config1: bigint;
  readonly config2: bigint;
  /** sample_period, or sample_freq with the flag `freq`. */
  readonly samplePeriod: bigint;
  /** Bits of `Sample`. */
  readonly sampleType: number;
  /** Bits of `Format`. */
  readonly readFormat: number;
  readonly flags: ReadonlySet<AttrFlagName>;
  /** wakeup_events, or wakeup_watermark with the flag `watermark`. */
  readonly wakeup: number;
  readonly regsUser: bigint;
  readonly regsIntr: bigint;
  readonly stackUser: number;
  readonly maxStack: number;
  readonly clockid: number;
  readonly auxSampleSize: number;
  readonly auxAction: number;
}

const FLAG_NAMES = Object.keys(AttrFlag) as AttrFlagName[];

/** The bytes of an attr of any size, filled up with zeroes; on E2BIG the known size is written back. */
const copyAttr = (space: AddressSpace, address: bigint): DataView | ErrnoName => {
  const word = new Uint8Array(4);
  if (space.read(address + BigInt(AttrAt.size), word) < 4) return 'EFAULT';
  const size = view(word).getUint32(0, true) || ATTR_SIZE_VER0;
  const tooBig = (): ErrnoName => {
    view(word).setUint32(0, ATTR_SIZE, true);
    space.write(address + BigInt(AttrAt.size), word);
    return 'E2BIG';
  };
  if (size < ATTR_SIZE_VER0 || size > Number(PAGE_SIZE)) return tooBig();
  const bytes = new Uint8Array(Math.max(size, ATTR_SIZE));
  if (space.read(address, bytes.subarray(0, size)) < size) return 'EFAULT';
  if (bytes.subarray(ATTR_SIZE).some((byte) => byte !== 0)) return tooBig();
  return view(bytes.subarray(0, ATTR_SIZE));
};

/** PERF_SAMPLE_BRANCH_*: the privilege bits, of which one must be given or will be; all known bits. */
const BRANCH_PRIVILEGES = 0b111n;
const BRANCH_MAX = 1n << 20n;

/** Bits 3 to 31 of aux_action; the first three pause and resume what no uprobe has. */
const AUX_RESERVED = ~0b111;

const checkBranches = (mask: bigint): boolean =>
  mask < BRANCH_MAX && (mask & ~BRANCH_PRIVILEGES) !== 0n;

const checkRegs = (mask: bigint): boolean => mask !== 0n && (mask & REGS_REFUSED) === 0n;

const checkStack = (size: number): boolean => size % 8 === 0 && size < 0xffff;

const flagsOf = (word: bigint): ReadonlySet<AttrFlagName> =>
  new Set(FLAG_NAMES.filter((name) => (word >> BigInt(AttrFlag[name])) & 1n));

/** Fields that stand for themselves. */
const decode = (attr: DataView): PerfAttr => {
  const u64 = (at: number): bigint => attr.getBigUint64(at, true);
  const u32 = (at: number): number => attr.getUint32(at, true);
  return {
    type: u32(AttrAt.type),
    config: u64(AttrAt.config),
    config1: u64(AttrAt.config1),
    config2: u64(AttrAt.config2),
    samplePeriod: u64(AttrAt.samplePeriod),
    sampleType: u32(AttrAt.sampleType),
    readFormat: u32(AttrAt.readFormat),
    flags: flagsOf(u64(AttrAt.flags)),
    wakeup: u32(AttrAt.wakeup),
    regsUser: u64(AttrAt.sampleRegsUser),
    regsIntr: u64(AttrAt.sampleRegsIntr),
    stackUser: u32(AttrAt.sampleStackUser),
    maxStack: attr.getUint16(AttrAt.sampleMaxStack, true) || MAX_STACK,
    clockid: attr.getInt32(AttrAt.clockid, true),
    auxSampleSize: u32(AttrAt.auxSampleSize),
    auxAction: u32(AttrAt.auxAction),
  };
};

/** What is wrong with the bits alone; EINVAL each. */
const WRONG: readonly ((bytes: DataView, attr: PerfAttr) => boolean)[] = [
  (bytes) => bytes.getBigUint64(AttrAt.flags, true) >> BigInt(ATTR_FLAGS_END) !== 0n,
  (bytes) => bytes.getUint16(AttrAt.reserved2, true) !== 0,
  (_, { auxAction }) => (auxAction & AUX_RESERVED) !== 0,
  (bytes) => bytes.getBigUint64(AttrAt.sampleType, true) >= SAMPLE_MAX,
  (bytes) => bytes.getBigUint64(AttrAt.readFormat, true) >= FORMAT_MAX,
  (bytes, { sampleType }) =>
    (sampleType & Sample.BRANCH_STACK) !== 0 &&
    !checkBranches(bytes.getBigUint64(AttrAt.branchSampleType, true)),
  (_, { sampleType, regsUser }) => (sampleType & Sample.REGS_USER) !== 0 && !checkRegs(regsUser),
  (_, { sampleType, stackUser }) =>
    (sampleType & Sample.STACK_USER) !== 0 && !checkStack(stackUser),
  (_, { sampleType, regsIntr }) => (sampleType & Sample.REGS_INTR) !== 0 && !checkRegs(regsIntr),
  (_, { sampleType }) =>
    (sampleType & Sample.WEIGHT) !== 0 && (sampleType & Sample.WEIGHT_STRUCT) !== 0,
  (_, { flags }) => flags.has('inheritThread') && !flags.has('inherit'),
  (_, { flags }) => flags.has('removeOnExec') && flags.has('enableOnExec'),
  (_, { flags }) => flags.has('sigtrap') && !flags.has('removeOnExec'),
];

/** The attr in `ATTR_SIZE` bytes, or EINVAL. */
export const attrOf = (bytes: DataView): PerfAttr | 'EINVAL' => {
  const attr = decode(bytes);
  return WRONG.some((isWrong) => isWrong(bytes, attr)) ? 'EINVAL' : attr;
};

/** perf_copy_attr: the attr at a user address, or why it is none. */
export const readAttr = (space: AddressSpace, address: bigint): PerfAttr | ErrnoName => {
  const bytes = copyAttr(space, address);
  return typeof bytes === 'string' ? bytes : attrOf(bytes);
};
