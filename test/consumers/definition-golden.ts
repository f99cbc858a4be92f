/** test/goldens/tracefs-definitions.txt: definitions and what Linux 6.18.44 answered. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, '..', 'goldens', 'tracefs-definitions.txt');

export const DIR = '/tmp/trapline-golden';

/** Files the definitions name; all regular and empty. */
export const FILES = ['file', 'lib-1.so', 'libc.so.6', '.x', '9x', 'we:ird', 'long'.repeat(15)].map(
  (name) => `/tmp/trapline-golden/${name}`,
);

export const makeFiles = (): void => {
  mkdirSync(DIR, { recursive: true });
  for (const file of FILES) writeFileSync(file, '');
};

export interface Case {
  /** Definitions written before. */
  readonly setup: readonly string[];
  readonly definition: string;
  /** The new line of the listing; or errno, then the lines of error_log. */
  readonly answer: readonly string[];
}

/** `{3*x}` stands for `xxx`. */
export const expand = (text: string): string =>
  text.replace(/\{(\d+)\*([^}]*)\}/g, (_, count: string, part: string) =>
    part.repeat(Number(count)),
  );

export const readCases = (): Case[] =>
  readFileSync(FILE, 'utf8')
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
    .filter((lines) => lines.length > 0)
    .map((lines) => ({
      setup: lines.filter((line) => line.startsWith('+ ')).map((line) => line.slice(2)),
      definition: lines.find((line) => line.startsWith('> '))!.slice(2),
      answer: lines.filter((line) => line.startsWith('  ')).map((line) => line.slice(2)),
    }));

const HEAD = `# uprobe_events definitions and the answers of Linux ${release()}, x86-64.
# "> " a definition; "+ " written before it; "  " the new line of the listing, or the errno and the
# lines of error_log without the time. {3*x} stands for xxx in definitions. To add a case write its
# "> " line and run UPDATE_GOLDENS=1 npx vitest run test/consumers as root on Linux 6.18.
`;

export const writeCases = (cases: readonly Case[]): void => {
  const blocks = cases.map(({ setup, definition, answer }) =>
    [
      ...setup.map((line) => `+ ${line}`),
      `> ${definition}`,
      ...answer.map((line) => `  ${line}`),
    ].join('\n'),
  );
  writeFileSync(FILE, `${[HEAD, ...blocks].join('\n\n').replace('\n\n\n', '\n\n')}\n`);
};
