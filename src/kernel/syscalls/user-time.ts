import type { AddressSpace } from '../../memory/address-space.ts';
import { get, put, words } from './user.ts';

export const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_MICROSECOND = 1000n;
/** Seconds beyond which ktime_t saturates (KTIME_SEC_MAX). */
const KTIME_SEC_MAX = 9223372036n;

/** struct timespec of so many nanoseconds. */
export const timespec = (ns: bigint): Uint8Array => words(ns / NS_PER_SECOND, ns % NS_PER_SECOND);

/** struct timeval of so many nanoseconds. */
export const timeval = (ns: bigint): Uint8Array =>
  words(ns / NS_PER_SECOND, (ns % NS_PER_SECOND) / NS_PER_MICROSECOND);

/** A valid struct timespec (timespec64_valid) in nanoseconds. */
export const getTimespec = (space: AddressSpace, address: bigint): bigint | 'EFAULT' | 'EINVAL' => {
  const pair = get(space, address, 16);
  if (pair === undefined) return 'EFAULT';
  const seconds = pair.getBigInt64(0, true);
  const ns = pair.getBigInt64(8, true);
  if (seconds < 0n || ns < 0n || ns >= NS_PER_SECOND) return 'EINVAL';
  return (seconds > KTIME_SEC_MAX ? KTIME_SEC_MAX : seconds) * NS_PER_SECOND + ns;
};

/** struct timeval as select(2) takes it: microseconds may be more than a second's worth. */
export const getTimeval = (space: AddressSpace, address: bigint): bigint | 'EFAULT' | 'EINVAL' => {
  const pair = get(space, address, 16);
  if (pair === undefined) return 'EFAULT';
  const ns =
    pair.getBigInt64(0, true) * NS_PER_SECOND + pair.getBigInt64(8, true) * NS_PER_MICROSECOND;
  const longest = KTIME_SEC_MAX * NS_PER_SECOND;
  return ns < 0n ? 'EINVAL' : ns > longest ? longest : ns;
};

/** Writes a timespec unless the address is null. */
export const putTimespec = (space: AddressSpace, address: bigint, ns: bigint): 'EFAULT' | null =>
  address === 0n ? null : put(space, address, timespec(ns));
