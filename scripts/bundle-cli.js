// Makes few files of the command line's many: finding and parsing 200 modules took a fifth of a small guest's run.
// The library stays as it is, one file a module, for those who import it.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Its workers are files of their own and share the library's modules; chunks lie as deep as the commands did. */
const keepFuzzer = {
  name: 'keep-fuzzer',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/\.\.\/fuzz\/.*\.ts$/ }, ({ path }) => ({
      path: path.replace(/ts$/, 'js'),
      external: true,
    })),
};

rmSync(at('dist/cli'), { recursive: true, force: true });
await build({
  entryPoints: [at('src/cli/main.ts')],
  outdir: at('dist/cli'),
  // As deep below dist as the modules that look for files beside themselves.
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  charset: 'utf8',
  packages: 'external',
  plugins: [keepFuzzer],
  logLevel: 'warning',
});
