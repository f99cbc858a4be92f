import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli');

/** What a file imports when it is loaded; not types, not `import()`. */
const staticImports = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^import (?!type )(?:[^;]*? from )?'([^']+)';/gm)].map(
    ([, target = '']) => target,
  );

const loadedBy = (file: string, seen: Set<string>): Set<string> => {
  for (const target of staticImports(file)) {
    if (!target.startsWith('.')) seen.add(target);
    else {
      const path = join(dirname(file), target);
      if (!seen.has(path)) loadedBy(path, seen.add(path));
    }
  }
  return seen;
};

// `trapline --help` must answer at once: the library, engines and the disassembler load later.
it('the command line loads nothing heavy before a command is chosen', () => {
  const loaded = [...loadedBy(join(CLI, 'main.ts'), new Set())].map((path) =>
    path.startsWith('/') ? relative(CLI, path) : path,
  );
  // The commands' options only; one file a command.
  expect(loaded.filter((path) => !path.startsWith('program/')).sort()).toEqual([
    '../host/node/host-errors.ts', // errno names in words; it imports nothing
    'commander',
    'errors.ts',
    'node:fs',
    'output.ts',
    'picocolors',
    'program.ts',
  ]);
});
