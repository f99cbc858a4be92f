import { readFileSync, statSync } from 'node:fs';
import { inWords } from '../host/node/host-errors.ts';
import { FileError } from './errors.ts';

/** A failed call on a file that the user named. */
export const fileError = (verb: 'read' | 'write', path: string, cause: unknown): FileError => {
  const errno = (cause as NodeJS.ErrnoException).code ?? 'EIO';
  return new FileError(`cannot ${verb} ${path}: ${inWords(errno)}`, { cause });
};

/** The bytes of a regular file. */
export const readRegularFile = (path: string): Uint8Array => {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (stats.isFile()) return readFileSync(path);
  } catch (cause) {
    throw fileError('read', path, cause);
  }
  throw new FileError(`cannot read ${path}: it is no regular file`);
};

/** A text file, or stdin for `-`. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw fileError('read', path, cause);
  }
};
