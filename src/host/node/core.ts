import { readFileSync, statSync } from 'node:fs';

const TIER0 = new URL('../../cpu/core/tier0/', import.meta.url);

const timeOf = (file: string): number =>
  statSync(new URL(file, TIER0), { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;

/**
 * The core's interpreter as WebAssembly: what `npm run build` has left, unless the code was compiled
 * again since; else made anew, which takes a second.
 */
export const readTier0 = async (): Promise<Uint8Array<ArrayBuffer>> => {
  if (timeOf('tier0.wasm') >= Math.max(timeOf('bytes.js'), 0))
    return Uint8Array.from(readFileSync(new URL('tier0.wasm', TIER0)));
  const { tier0Bytes } = await import('../../cpu/core/tier0/bytes.ts');
  return tier0Bytes();
};
