import { type ErrnoName, fail } from '../../abi/errno.ts';
import type { FileDescription } from '../files/file-table.ts';
import { nameFromBytes, PATH_MAX } from '../files/names.ts';
import type { OpenFile, Wait } from '../files/open-file.ts';
import {
  type Blocked,
  block,
  type SyscallArgs,
  type SyscallContext,
  type SyscallHandler,
} from './table.ts';

/** What the rows here are written in: a number, an errno, null for 0, or a wait. */
export type Answer = bigint | number | ErrnoName | null | Blocked;

/** Makes a row's handler of a function that answers in {@link Answer}. */
export const answering =
  (handler: (ctx: SyscallContext, args: SyscallArgs) => Answer): SyscallHandler =>
  (ctx, args) => {
    const answer = handler(ctx, args);
    if (typeof answer === 'string') return fail(answer);
    if (typeof answer === 'number') return BigInt(answer);
    return answer ?? 0n;
  };

/** A handler that always answers the same. */
export const always = (answer: Answer): SyscallHandler => answering(() => answer);

/** The description behind a descriptor; one of open(O_PATH) only if asked for. */
export const descriptor = (
  { files }: SyscallContext,
  fd: number,
  withPath: 'path-too' | 'no-path' = 'no-path',
): FileDescription | undefined => {
  const description = files.get(fd);
  return description?.isPath === true && withPath === 'no-path' ? undefined : description;
};

/** What a file's wait is to the task. */
export const sleepOn = (file: OpenFile, { wait }: Wait): Blocked =>
  block(wait === 'host' ? { kind: 'host', what: file.path } : { kind: 'signal' });

/** getname: a path from user memory. */
export const pathAt = (
  { space }: SyscallContext,
  address: bigint,
): { text: string } | ErrnoName => {
  const bytes = space.readString(address, PATH_MAX);
  if (bytes !== undefined) return { text: nameFromBytes(bytes) };
  const whole = new Uint8Array(PATH_MAX);
  return space.read(address, whole) === PATH_MAX ? 'ENAMETOOLONG' : 'EFAULT';
};
