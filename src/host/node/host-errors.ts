import type { ErrnoName } from '../../index.ts';

/** What the host's file system may say that the guest may hear. */
const TOLD: ReadonlySet<string> = new Set<ErrnoName>([
  'EACCES',
  'EBUSY',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'EMLINK',
  'ENAMETOOLONG',
  'ENODEV',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENXIO',
  'EPERM',
  'EPIPE',
  'EROFS',
  'ETXTBSY',
  'EXDEV',
]);

const isTold = (code: unknown): code is ErrnoName => typeof code === 'string' && TOLD.has(code);

/** The errno of a failed host call. */
export const errnoOf = (error: unknown): ErrnoName => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (isTold(code)) return code;
  if (code === 'ERR_INVALID_ARG_VALUE') return 'EINVAL'; // a NUL in a path
  // The host process ran out of descriptors, not the guest.
  return code === 'EMFILE' || code === 'ENFILE' ? 'ENFILE' : 'EIO';
};

/** Runs a host call; its errno if it throws. */
export const attempt = <T>(call: () => T): T | ErrnoName => {
  try {
    return call();
  } catch (error) {
    return errnoOf(error);
  }
};

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ELOOP: 'too many links',
  ENOENT: 'no such file',
  ENOSPC: 'no space left',
  ENOTDIR: 'a part of the path is no directory',
};

/** An errno name as people read it. */
export const inWords = (errno: string): string => {
  const words = WORDS[errno];
  return words === undefined ? errno : `${words} (${errno})`;
};
