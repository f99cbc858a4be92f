import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Which folders (or single files) of src a folder may import; the table of ARCHITECTURE.md. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  abi: ['base'],
  x86: ['base'],
  cpu: ['base', 'x86'],
  memory: ['base', 'cpu/engine.ts'],
  elf: ['base', 'abi', 'memory', 'cpu/engine.ts'],
  kernel: ['base', 'abi', 'x86', 'cpu', 'memory', 'elf'],
  uprobes: ['base', 'abi', 'x86', 'cpu/engine.ts', 'memory', 'kernel'],
  consumers: ['base', 'abi', 'elf', 'cpu/engine.ts', 'memory', 'kernel', 'uprobes/index.ts'],
  machine: ['base', 'abi', 'x86', 'cpu', 'memory', 'elf', 'kernel', 'uprobes', 'consumers'],
  'index.ts': [
    'base',
    'abi',
    'x86',
    'cpu',
    'memory',
    'elf',
    'kernel',
    'uprobes',
    'consumers',
    'machine',
  ],
  conform: ['base', 'abi', 'x86', 'cpu/engine.ts', 'memory', 'kernel', 'uprobes'],
  host: ['index.ts', 'cpu'],
  cli: ['index.ts', 'host', 'conform/index.ts', 'fuzz/index.ts'],
  bench: ['index.ts', 'host', 'cpu', 'memory', 'x86', 'fuzz/index.ts'],
  fuzz: [
    'base',
    'abi',
    'x86',
    'cpu',
    'memory',
    'kernel',
    'uprobes/index.ts',
    'uprobes/testing.ts',
    'host',
  ],
};

/** npm packages and node: modules, by the folder that may use them; `src/cpu` only as types. */
const OUTSIDE: Readonly<Record<string, RegExp>> = {
  x86: /^iced-x86$/,
  host: /^(node:|koffi$|@specy\/x86|gecko-profiler-demangle\/)/,
  cli: /^(node:|commander$|picocolors$|cli-table3$|diff$)/,
  bench: /^node:/,
  fuzz: /^(node:|tinypool$)/,
};

const SRC = join(import.meta.dirname, '..', 'src');

const files = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? files(join(dir, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(dir, entry.name)]
        : [],
  );

const folderOf = (path: string): string => path.split('/')[0] ?? '';

interface Import {
  readonly from: string;
  readonly line: number;
  readonly target: string;
}

const importsOf = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?<!\.)\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => ({
    from: relative(SRC, file),
    line: text.slice(0, match.index).split('\n').length,
    target: match[1] ?? '',
  }));
};

const verdict = ({ from, line, target }: Import): string | null => {
  const folder = folderOf(from);
  const where = `src/${from}:${line} imports ${target}`;
  if (!target.startsWith('.')) return OUTSIDE[folder]?.test(target) ? null : where;
  const path = relative(SRC, join(SRC, dirname(from), target));
  const to = folderOf(path);
  if (to === folder) {
    // Consumers share only event/.
    const [, mine = ''] = from.split('/');
    const [, theirs = ''] = path.split('/');
    return folder === 'consumers' && mine !== theirs && theirs !== 'event' ? where : null;
  }
  const allowed = ALLOWED[folder] ?? [];
  return allowed.includes(to) || allowed.includes(path) ? null : where;
};

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

describe('layers', () => {
  it('every folder of src is in the table', () => {
    const unknown = files(SRC)
      .map((file) => folderOf(relative(SRC, file)))
      .filter((folder) => !(folder in ALLOWED));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('imports only go down', () => {
    const wrong = files(SRC)
      .flatMap(importsOf)
      .map(verdict)
      .filter((text) => text !== null);
    expect(wrong).toEqual([]);
  });

  it('layers 0-7 use no clock and no randomness', () => {
    const offenders = files(SRC)
      .filter((file) => !/^(host|cli|bench|fuzz)\//.test(relative(SRC, file)))
      .filter((file) =>
        /\b(Date\.now|new Date|performance\.now|Math\.random|process\.)/.test(
          withoutComments(readFileSync(file, 'utf8')),
        ),
      )
      .map((file) => relative(SRC, file));
    expect(offenders).toEqual([]);
  });
});
