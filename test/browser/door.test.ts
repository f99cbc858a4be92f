import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { expect, it } from 'vitest';
import { missing } from '../helpers/requirements.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');
const UNICORN = join(MODULES, '@specy/x86/dist/x86/deps/unicorn-x86.min.js');
const ICED = join(MODULES, 'iced-x86/iced_x86_bg.wasm');

/** iced-x86's npm build asks Node for its own WebAssembly file: the one exception (ARCHITECTURE.md). */
const NODE_OF_ICED: Readonly<Record<string, string>> = {
  util: 'module.exports = { TextDecoder, TextEncoder }',
  path: 'module.exports = { join: (...parts) => parts.at(-1) }',
  fs: `module.exports = { readFileSync: () => require(${JSON.stringify(ICED)}) }`,
};

const forBrowser: Plugin = {
  name: 'for-browser',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^@specy\/x86\/unicorn$/ }, () => ({ path: UNICORN, namespace: 'text' }));
    onLoad({ filter: /.*/, namespace: 'text' }, ({ path }) => ({
      contents: readFileSync(path, 'utf8'),
      loader: 'text',
    }));
    onResolve({ filter: /^(util|path|fs)$/ }, ({ path, importer }) =>
      importer.includes('/iced-x86/') ? { path, namespace: 'iced' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'iced' }, ({ path }) => ({
      contents: NODE_OF_ICED[path] ?? '',
      resolveDir: dirname(ICED),
    }));
  },
};

const OPTIONS: BuildOptions = {
  entryPoints: [join(import.meta.dirname, 'page.ts')],
  bundle: true,
  platform: 'browser',
  format: 'iife',
  charset: 'utf8',
  define: { __dirname: '""' },
  loader: { '.elf': 'binary', '.wasm': 'binary' },
  logLevel: 'silent',
  plugins: [forBrowser],
};

/** The text of the document once the page has nothing more to do. */
const visit = (page: string): string => {
  const dom = execFileSync(
    'chromium-headless-shell',
    [
      '--no-sandbox',
      '--disable-gpu',
      '--virtual-time-budget=60000',
      '--dump-dom',
      `file://${page}`,
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 },
  );
  const body = /<body>([\s\S]*)<\/body>/.exec(dom)?.[1] ?? '';
  return body.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&').trim();
};

it('the door works in a browser', { timeout: 180_000 }, async (context) => {
  const note = missing('chromium-headless-shell');
  if (note !== null) context.skip(note);
  const folder = mkdtempSync(join(tmpdir(), 'trapline-browser-'));
  try {
    // No module of Node's is left: esbuild fails on any that is not iced's.
    await build({ ...OPTIONS, outfile: join(folder, 'page.js') });
    const page = join(folder, 'page.html');
    writeFileSync(
      page,
      '<!doctype html><meta charset="utf-8"><body></body><script src="page.js"></script>',
    );
    const { end, output, trace } = JSON.parse(visit(page));
    expect(end).toEqual({ kind: 'exit', status: 0 });
    expect(output).toBe('6 * (3 + 4) = 42\n');
    expect(trace).toEqual(
      readFileSync(join(import.meta.dirname, '../../fixtures/traces/calc.golden'), 'utf8')
        .split('\n')
        .filter((line) => /^apply(_return)?: /.test(line))
        .slice(0, 4), // its first argument is our only one
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
