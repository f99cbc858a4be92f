import { describe, expect, it } from 'vitest';
import { loadEngine } from '../../src/host/node/index.ts';
import { TraplineError } from '../../src/index.ts';
import { PROGRAM, SessionMachine } from './session-program.ts';
import { expand, readSessions, type Step, shown } from './sessions.ts';

const engine = await loadEngine('unicorn');

const answering = (act: () => string[]): string[] => {
  try {
    return act();
  } catch (error) {
    if (error instanceof TraplineError) return [`  ${error.errno}`];
    throw error;
  }
};

/** Does one step on our machine and prints the answer as record.c does. */
const play = async (on: SessionMachine, { letter, file, text }: Step): Promise<string[]> => {
  const { tracefs } = on.machine;
  const path = file.replace(/^top\//, '');
  switch (letter) {
    case 'w':
    case 'o':
    case 't':
      return answering(() => {
        tracefs.write(path, expand(text, PROGRAM), { truncate: letter === 't' });
        return ['  ok'];
      });
    case 'r':
      return answering(() => {
        const read = tracefs.read(path);
        // The recorder does not wait for records; our door says the same with an empty text.
        return read === '' && path === 'trace_pipe' ? ['  EAGAIN'] : shown(file, read, PROGRAM);
      });
    case 'l':
      return answering(() => ['.', '..', ...tracefs.list(path)].map((name) => `  |${name}`));
    case 'x':
      await on.run();
      return ['  ok'];
  }
  throw new Error(`no such step: ${letter}`);
};

for (const golden of ['tracefs-sessions.txt', 'tracefs-filters.txt', 'tracefs-triggers.txt'])
  describe(golden, () => {
    for (const { name, steps } of readSessions(golden))
      it(name, async () => {
        using on = new SessionMachine(engine);
        const answers: string[] = [];
        for (const step of steps) answers.push(step.line, ...(await play(on, step)));
        expect(answers).toEqual(steps.flatMap(({ line, answer }) => [line, ...answer]));
      });
  });
