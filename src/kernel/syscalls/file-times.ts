import type { ErrnoName } from '../../abi/errno.ts';
import { AT_FDCWD, AtFlag } from '../../abi/fcntl.ts';
import { setTimes } from '../files/changing.ts';
import type { Place } from '../files/mounts.ts';
import { type FileTimes, failed } from '../files/tree.ts';
import { type Answer, answering, pathAt } from './answer.ts';
import { CWD, placeAt } from './at.ts';
import { placeOfFd } from './file-attributes.ts';
import { asInt, asUint, full, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { get } from './user.ts';
import { NS_PER_SECOND } from './user-time.ts';

/** Values of tv_nsec that are no nanoseconds. */
const UTIME_NOW = 0x3fffffffn;
const UTIME_OMIT = 0x3ffffffen;

/** A time as utimensat(2) takes it. */
interface Requested {
  readonly seconds: bigint;
  readonly ns: bigint;
}
type Pair = readonly [accessed: Requested, modified: Requested];

const NOW: Pair = [
  { seconds: 0n, ns: UTIME_NOW },
  { seconds: 0n, ns: UTIME_NOW },
];

/** Two pairs of 64-bit words; `scale` makes nanoseconds of the second of each. */
const readPair = (
  { space }: SyscallContext,
  address: bigint,
  scale: bigint,
): Pair | 'EFAULT' | 'EINVAL' => {
  if (address === 0n) return NOW;
  const words = get(space, address, 32);
  if (words === undefined) return 'EFAULT';
  const at = (offset: number): Requested => ({
    seconds: words.getBigInt64(offset, true),
    ns: words.getBigInt64(offset + 8, true) * scale,
  });
  const pair: Pair = [at(0), at(16)];
  // timevals are checked at once, timespecs when the file has been found.
  return scale !== 1n && pair.some(isInvalid) ? 'EINVAL' : pair;
};

const isInvalid = ({ ns }: Requested): boolean =>
  ns !== UTIME_NOW && ns !== UTIME_OMIT && (ns < 0n || ns >= NS_PER_SECOND);

const timeOf = ({ kernel }: SyscallContext, { seconds, ns }: Requested): bigint | undefined => {
  if (ns === UTIME_OMIT) return undefined;
  return ns === UTIME_NOW ? kernel.clock.realtimeNs() : seconds * NS_PER_SECOND + ns;
};

const apply = (ctx: SyscallContext, place: Place | ErrnoName, pair: Pair): Answer => {
  if (failed(place)) return place;
  if (pair.some(isInvalid)) return 'EINVAL';
  const [accessed, modified] = [timeOf(ctx, pair[0]), timeOf(ctx, pair[1])];
  const times: FileTimes = {
    ...(accessed !== undefined && { accessed }),
    ...(modified !== undefined && { modified }),
  };
  return setTimes(place, times);
};

const utimensat = answering((ctx, [dirFd, path, timesAddress, flagsArg]) => {
  const pair = readPair(ctx, timesAddress, 1n);
  if (typeof pair === 'string') return pair;
  // Nothing to do: not even the path is looked at.
  if (pair.every(({ ns }) => ns === UTIME_OMIT)) return 0;
  const flags = asUint(flagsArg);
  const fd = asInt(dirFd);
  if (path === 0n && fd !== AT_FDCWD)
    return flags !== 0 ? 'EINVAL' : apply(ctx, placeOfFd(ctx, fd), pair);
  if ((flags & ~(AtFlag.SYMLINK_NOFOLLOW | AtFlag.EMPTY_PATH)) !== 0) return 'EINVAL';
  const text = pathAt(ctx, path);
  if (failed(text)) return text;
  if (text.text === '' && (flags & AtFlag.EMPTY_PATH) !== 0)
    return apply(ctx, placeOfFd(ctx, fd), pair);
  const follow = (flags & AtFlag.SYMLINK_NOFOLLOW) === 0;
  return apply(ctx, placeAt(ctx, dirFd, path, { follow }), pair);
});

/** utimes(2) and futimesat(2): struct timeval. */
const withTimevals = (ctx: SyscallContext, dirFd: bigint, path: bigint, times: bigint): Answer => {
  const pair = readPair(ctx, times, 1000n);
  return typeof pair === 'string' ? pair : apply(ctx, placeAt(ctx, dirFd, path), pair);
};

const utime = answering((ctx, [path, timesAddress]) => {
  if (timesAddress === 0n) return apply(ctx, placeAt(ctx, CWD, path), NOW);
  const words = get(ctx.space, timesAddress, 16);
  if (words === undefined) return 'EFAULT';
  const at = (offset: number): Requested => ({ seconds: words.getBigInt64(offset, true), ns: 0n });
  return apply(ctx, placeAt(ctx, CWD, path), [at(0), at(8)]);
});

/** Times of files. */
export const FILE_TIME_ROWS: readonly SyscallRow[] = [
  partial('utimensat', 'AT_EMPTY_PATH needs a descriptor', utimensat),
  full('utime', utime),
  full(
    'utimes',
    answering((ctx, [path, times]) => withTimevals(ctx, CWD, path, times)),
  ),
  full(
    'futimesat',
    answering((ctx, [dirFd, path, times]) => withTimevals(ctx, dirFd, path, times)),
  ),
];
