import type { ErrnoName } from '../../abi/errno.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import { Resource, type ResourceLimit } from '../process-settings.ts';
import { answering } from './answer.ts';
import { asInt, asUint, partial, type SyscallContext, type SyscallRow } from './table.ts';
import { get, put, words } from './user.ts';

/** NR_OPEN: no process may have more descriptors. */
const NR_OPEN = 1_048_576n;

const image = ({ soft, hard }: ResourceLimit): Uint8Array => words(soft, hard);

const limitAt = (space: AddressSpace, address: bigint): ResourceLimit | undefined => {
  const pair = get(space, address, 16);
  return pair && { soft: pair.getBigUint64(0, true), hard: pair.getBigUint64(8, true) };
};

/** do_prlimit. */
const change = (
  { task, files }: SyscallContext,
  resource: number,
  next: ResourceLimit | undefined,
): ResourceLimit | ErrnoName => {
  const { limits } = task.group.settings;
  const old = limits[resource];
  if (old === undefined) return 'EINVAL';
  if (next === undefined) return old;
  if (next.soft > next.hard) return 'EINVAL';
  if (resource === Resource.NOFILE && next.hard > NR_OPEN) return 'EPERM';
  if (next.hard > old.hard) return 'EPERM';
  limits[resource] = next;
  if (resource === Resource.NOFILE) files.limit = Number(next.soft);
  return old;
};

const prlimit64 = answering((ctx, [pidArg, resource, newAddress, oldAddress]) => {
  const next = newAddress === 0n ? undefined : limitAt(ctx.space, newAddress);
  if (newAddress !== 0n && next === undefined) return 'EFAULT';
  const pid = asInt(pidArg);
  if (pid !== 0 && pid !== ctx.task.tgid) return 'ESRCH';
  const old = change(ctx, asUint(resource), next);
  if (typeof old === 'string') return old;
  return oldAddress === 0n ? 0 : put(ctx.space, oldAddress, image(old));
});

const getrlimit = answering((ctx, [resource, into]) => {
  const limit = change(ctx, asUint(resource), undefined);
  return typeof limit === 'string' ? limit : put(ctx.space, into, image(limit));
});

const setrlimit = answering((ctx, [resource, from]) => {
  const next = limitAt(ctx.space, from);
  if (next === undefined) return 'EFAULT';
  const old = change(ctx, asUint(resource), next);
  return typeof old === 'string' ? old : 0;
});

const NOTE = 'RLIMIT_NOFILE counts; the others are kept and read back';

/** Resource limits. */
export const LIMIT_ROWS: readonly SyscallRow[] = [
  partial('prlimit64', NOTE, prlimit64),
  partial('getrlimit', NOTE, getrlimit),
  partial('setrlimit', NOTE, setrlimit),
];
