import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import type { UnicornModule } from '../../cpu/unicorn/js.ts';

/** Where @specy/x86 keeps its Unicorn. */
const FILE = 'dist/x86/deps/unicorn-x86.min.js';
const EXPORT = 'export{uc}';

/** Its `console`: it talks about system calls that it does not have. */
const SILENT = { log() {}, warn() {}, error() {} };

/**
 * Loads Unicorn's inner module. The package exports only a wrapper that lacks hooks we need, so its
 * text is evaluated as a function that answers the module behind the wrapper; nothing is copied.
 * @throws whatever the package's absence makes Node throw
 */
export const loadUnicornModule = (): UnicornModule => {
  const manifest = createRequire(import.meta.url).resolve('@specy/x86/package.json');
  const text = readFileSync(join(dirname(manifest), FILE), 'utf8');
  const body = text.slice(0, text.lastIndexOf(EXPORT));
  const script = new Script(`(console=>{${body};return MUnicorn})`, {
    filename: 'unicorn-x86.min.js',
  });
  const make: (console: object) => UnicornModule = script.runInThisContext();
  return make(SILENT);
};
