/** test/goldens/tracefs-sessions.txt: what was done to tracefs, and what Linux answered. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const GOLDENS = join(import.meta.dirname, '..', 'goldens');

/** One line of a session: `> r FILE`, `> w FILE TEXT` …, as record.c explains them. */
export interface Step {
  readonly line: string;
  readonly letter: string;
  readonly file: string;
  readonly text: string;
  readonly answer: readonly string[];
}

export interface Session {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** `{prog}`, line ends, tabs and repetitions, as in record.c. */
export const expand = (text: string, program: string): string =>
  text
    .replace(/\{(\d+)\*([^}]*)\}/g, (_, count: string, part: string) => part.repeat(Number(count)))
    .replaceAll('{prog}', program)
    .replaceAll('␤', '\n')
    .replaceAll('␉', '\t');

export const readSessions = (name: string): Session[] => {
  const sessions: { name: string; steps: (Omit<Step, 'answer'> & { answer: string[] })[] }[] = [];
  for (const line of readFileSync(join(GOLDENS, name), 'utf8').split('\n')) {
    if (line.startsWith('= ')) sessions.push({ name: line.slice(2), steps: [] });
    else if (line.startsWith('> ')) {
      const [, letter = '', file = '', text = ''] = /^> (\w) ?(\S*) ?(.*)$/s.exec(line)!;
      sessions.at(-1)!.steps.push({ line, letter, file, text, answer: [] });
    } else if (line.startsWith('  ')) sessions.at(-1)!.steps.at(-1)!.answer.push(line);
  }
  return sessions;
};

const NEVER = /(?!)/;

/** A text as record.c prints it. */
export const shown = (file: string, text: string, program: string): string[] => {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const answer = lines.map((line) => {
    if (file.endsWith('/id')) return '  |N';
    const plain = line
      .replace(/^ID: \d+/, 'ID: N')
      .replace(/#P:\d+.*/, '#P:N')
      .replace(/^# (traceon .*|traceoff .*)/, '# …')
      .replace(file.includes('error_log') ? /^\[ *\d+\.\d+\]/ : NEVER, '[TIME]')
      .replace(file.includes('trace') ? /^ .*?\] \S{5} +\d+\.\d+: / : NEVER, '* ')
      .replace(program, '{prog}');
    return `  |${plain}`;
  });
  return text.endsWith('\n') ? answer : [...answer, '  (no line end)'];
};
