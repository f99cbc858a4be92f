/**
 * V8's compiled form of a large script, kept in a file. It only saves time: whatever is wrong with it, the
 * script is compiled from its text.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** The file for a script; another V8, other flags of it or another version of the script have another. */
const fileFor = (script: string, folder: string): string => {
  const { size, mtimeMs } = statSync(script);
  const name = `${basename(script)}-${cachedDataVersionTag()}-${size}-${Math.floor(mtimeMs)}`;
  return join(folder, `${name}.bin`);
};

/** Undefined when it fails: a read-only installation compiles at every start. */
const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** In one piece, or not at all: others may read it meanwhile. */
const write = (file: string, bytes: Buffer): void => {
  const unfinished = `${file}.${process.pid}`;
  const written = attempt(() => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(unfinished, bytes);
    renameSync(unfinished, file);
    return true;
  });
  if (!written) attempt(() => rmSync(unfinished, { force: true }));
};

/**
 * Compiles `text`, by the cache when there is one. When there is none, the process writes one as it ends:
 * functions that ran are compiled by then.
 * @param path the script's own file
 * @param folder where the cache lies: who can write there must be trusted like the script itself
 */
export const compileCached = (path: string, text: string, folder: string): Script => {
  const file = fileFor(path, folder);
  const cachedData = attempt(() => readFileSync(file));
  const script = new Script(text, { filename: path, ...(cachedData && { cachedData }) });
  if (script.cachedDataRejected !== false)
    process.once('exit', () => write(file, script.createCachedData()));
  return script;
};
