/** tracefs: what definitions are refused with, and what fetch arguments print. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { errnoNumber } from '../../../src/abi/errno.ts';
import { textBytes } from '../../../src/base/byte-text.ts';
import { FAULT_TEXT } from '../../../src/consumers/event/fault.ts';
import { type ErrnoName, Machine, MemoryTree, type TraplineError } from '../../../src/index.ts';
import { uprobesBehind } from '../../../src/machine/testing.ts';
import { type Case, DIR, expand, FILES, readCases } from '../../consumers/definition-golden.ts';
import {
  escapeBody,
  eventOf,
  PROGRAM,
  placed,
  readTraceCases,
} from '../../consumers/trace-golden.ts';
import type { Rows, Trial } from '../row.ts';

/** A machine whose program is the one of the fetch-argument goldens, with the files that definitions name. */
const machineFor = (trial: Trial): Machine => {
  const named = FILES.map((path) => [path.slice(DIR.length + 1), { bytes: new Uint8Array() }]);
  const program = { bytes: new Uint8Array(readFileSync(PROGRAM)), mode: 0o755 };
  const machine = trial.uses(
    Machine.create({
      engine: trial.engine,
      profile: trial.profile.name,
      program: {
        path: '/fetch-args',
        tree: new MemoryTree({ 'fetch-args': program }),
        file: 'fetch-args',
      },
      mounts: [{ at: DIR, tree: new MemoryTree(Object.fromEntries(named)) }],
    }),
  );
  trial.prepare(uprobesBehind(machine));
  return machine;
};

/** A case of the golden for each error the kernel knows. */
const refusals = (): Case[] => {
  const cases = readCases();
  return Object.values(FAULT_TEXT).flatMap((text) => {
    const found = cases.find(({ answer }) => answer[1] === `trace_uprobe: error: ${text}`);
    return found === undefined ? [] : [found];
  });
};

/** What one definition is told, in the golden's form. */
const refusalOf = ({ tracefs }: Machine, { setup, definition }: Case): string[] => {
  for (const line of setup) tracefs.write('uprobe_events', expand(line));
  try {
    tracefs.write('uprobe_events', expand(definition));
    return ['accepted'];
  } catch (error) {
    const errno = (error as TraplineError).errno as ErrnoName;
    const log = tracefs.read('error_log').replace(/^\[ *\d+\.\d+\] /, '');
    return [`${errno} ${errnoNumber(errno)}`, ...log.replace(/\n$/, '').split('\n')];
  }
};

/** Bodies of a trace text by event. */
const bodies = (trace: string): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  const lines = trace.split(/^ +fetch-args-\d+ +\[\d+\] \S{5} +\d+\.\d{6}: /m).slice(1);
  for (const line of lines) {
    const body = escapeBody(textBytes(line.replace(/\n$/, '')));
    const event = body.split(':')[0]!;
    found.set(event, [...(found.get(event) ?? []), body]);
  }
  return found;
};

const rows: Rows = [
  {
    id: 'C93',
    what: 'definitions refused with every message the kernel knows: errno, text, command and caret in error_log',
    from: 'recorded on Linux 6.18.44 (test/goldens/tracefs-definitions.txt)',
    run(trial) {
      const machine = machineFor(trial);
      expect(refusals()).toHaveLength(Object.keys(FAULT_TEXT).length);
      for (const refusal of refusals()) {
        machine.tracefs.write('error_log', '', { truncate: true });
        machine.tracefs.write('uprobe_events', '', { truncate: true });
        expect([refusal.definition, ...refusalOf(machine, refusal)]).toEqual([
          refusal.definition,
          ...refusal.answer,
        ]);
      }
    },
  },
  {
    id: 'C94',
    what: 'every kind of fetch argument and type: the printed value',
    from: 'recorded on Linux 6.18.44 (test/goldens/fetch-args.txt)',
    async run(trial) {
      const machine = machineFor(trial);
      const cases = readTraceCases();
      for (const { definition } of cases) machine.tracefs.define(placed(definition, '@'));
      expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
      const printed = bodies(machine.tracefs.read('trace'));
      for (const event of new Set(cases.map(({ definition }) => eventOf(definition))))
        expect(printed.get(event) ?? []).toEqual(
          cases
            .filter(({ definition }) => eventOf(definition) === event)
            .flatMap(({ lines }) => lines),
        );
    },
  },
];

export default rows;
