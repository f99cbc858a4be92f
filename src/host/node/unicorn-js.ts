import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { UnicornModule } from '../../cpu/unicorn/js.ts';
import { compileCached } from './code-cache.ts';

/** Where @specy/x86 keeps its Unicorn. */
const FILE = 'dist/x86/deps/unicorn-x86.min.js';
const EXPORT = 'export{uc}';
/** From the package's folder: `node_modules/.cache`, which belongs to whoever installs packages. */
const CACHE = '../../.cache/trapline';

/** Its `console`: it talks about system calls that it does not have. */
const SILENT = { log() {}, warn() {}, error() {} };

/**
 * Loads Unicorn's inner module. The package exports only a wrapper that lacks hooks we need, so its
 * text is evaluated as a function that answers the module behind the wrapper; nothing is copied.
 * @throws whatever the package's absence makes Node throw
 */
export const loadUnicornModule = (): UnicornModule => {
  const folder = dirname(createRequire(import.meta.url).resolve('@specy/x86/package.json'));
  const path = join(folder, FILE);
  // It is ASCII, and twice as fast to read as such.
  const text = readFileSync(path, 'latin1');
  const body = text.slice(0, text.lastIndexOf(EXPORT));
  const script = compileCached(path, `(console=>{${body};return MUnicorn})`, join(folder, CACHE));
  const make: (console: object) => UnicornModule = script.runInThisContext();
  return make(SILENT);
};
