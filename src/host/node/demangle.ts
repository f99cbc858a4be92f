import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The readable form of a C++ or Rust symbol; any other name as it is. */
export type Demangle = (name: string) => string;

/**
 * Loads the demangler. The npm package is made for bundlers; Node takes its glue and its module one
 * by one.
 */
export const loadDemangler = async (): Promise<Demangle> => {
  const glue = await import('gecko-profiler-demangle/index_bg.js');
  const file = createRequire(import.meta.url).resolve('gecko-profiler-demangle/index_bg.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(file), {
    './index_bg.js': { ...glue },
  });
  glue.__wbg_set_wasm(instance.exports);
  return glue.demangle_any;
};
