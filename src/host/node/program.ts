import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type MountOptions, type ProgramFile, TraplineError } from '../../index.ts';
import { errnoOf, inWords } from './host-errors.ts';
import { HostTree } from './tree.ts';

/** A file or directory the host's user has named: links in that path are the user's own. */
const locate = (path: string): { readonly real: string; readonly kind: 'file' | 'directory' } => {
  try {
    // Node takes an empty path for the current directory; Linux has no such file.
    if (path === '') throw Object.assign(new Error(), { code: 'ENOENT' });
    const real = realpathSync(path);
    const stats = lstatSync(real);
    if (stats.isFile()) return { real, kind: 'file' };
    if (stats.isDirectory()) return { real, kind: 'directory' };
  } catch (cause) {
    const errno = errnoOf(cause);
    throw new TraplineError('file-missing', `cannot read ${path}: ${inWords(errno)}`, {
      errno,
      cause,
    });
  }
  throw new TraplineError('file-missing', `cannot read ${path}: neither a file nor a directory`, {
    errno: 'EACCES',
  });
};

/** The program to run, for `MachineOptions.program`: visible to the guest at its absolute path. */
export const hostProgram = (path: string): ProgramFile => {
  const { real, kind } = locate(path);
  if (kind === 'directory')
    throw new TraplineError('file-missing', `cannot run ${path}: it is a directory`, {
      errno: 'EACCES',
    });
  const named = resolve(path);
  // The guest's /proc is not the host's: there the program has the name that the link leads to.
  const shown = named.startsWith('/proc/') ? real : named;
  return { path: shown, tree: new HostTree(dirname(real)), file: basename(real) };
};

/** A file or directory of the host at a place of the guest's, for `MachineOptions.mounts`. */
export const hostMount = (host: string, at: string, writable = false): MountOptions => {
  const { real, kind } = locate(host);
  if (kind === 'directory') return { at, tree: new HostTree(real, { writable }), writable };
  return { at, tree: new HostTree(dirname(real), { writable }), root: basename(real), writable };
};

/** A directory of the host as the guest's `/`, for `MachineOptions.root`. */
export const hostRoot = (directory: string): HostTree => {
  const { real, kind } = locate(directory);
  if (kind === 'file')
    throw new TraplineError('bad-option', `${directory} is no directory`, { errno: 'ENOTDIR' });
  return new HostTree(real);
};
