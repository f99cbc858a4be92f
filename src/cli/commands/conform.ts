import {
  type CaseResult,
  caseCount,
  conform as conformTable,
  counts,
  type Difference,
  profileOfTable,
  readTable,
  type Table,
  Tally,
} from '../../conform/index.ts';
import { loadEngine } from '../../host/node/index.ts';
import { requireProfile } from '../../index.ts';
import { Status } from '../errors.ts';
import { readText } from '../files.ts';
import { complain, print, printable, printJson } from '../output.ts';
import type { CommonOptions } from '../program/common.ts';
import { progressOn } from '../progress.ts';

/** There are differences, or nothing ran. */
const DIFFERS = 1;

const PACE = { terminal: 100, file: null };

/** One line, whatever a table's names hold. */
const differenceLine = ({ case: name, in: where, what, expected, got }: Difference): string =>
  printable(`${name} ${where} ${what}: expected ${expected}, got ${got}`);

const show = ({ name, differences, notRun }: CaseResult, json: boolean): void => {
  if (!json) {
    print(differences.map(differenceLine));
    return;
  }
  for (const one of differences) printJson({ v: 1, type: 'difference', ...one });
  for (const one of notRun) printJson({ v: 1, type: 'not-run', case: name, ...one });
};

const showEnd = (tally: Tally, json: boolean): void => {
  if (json) {
    printJson({
      v: 1,
      type: 'summary',
      agree: tally.agreed,
      ran: tally.ran,
      not_run: tally.notRun,
      reasons: Object.fromEntries(tally.reasons),
      partial: Object.fromEntries(tally.partial),
    });
    return;
  }
  if (tally.partial.size > 0)
    complain(`of cases that ran, these runs are missing: ${counts(tally.partial)}`);
  print([tally.text()]);
};

const profileFor = (table: Table, kernel: string | undefined) =>
  kernel === undefined ? (profileOfTable(table) ?? requireProfile()) : requireProfile(kernel);

/** `trapline conform`. */
export const conform = async (path: string, options: CommonOptions): Promise<number> => {
  const table = readTable(readText(path), path);
  const profile = profileFor(table, options.kernel);
  const tally = new Tally();
  const total = caseCount(table);
  const progress = progressOn(process.stderr, PACE, (done: number) => `${done}/${total}`);
  let done = 0;
  const json = options.json === true;
  for await (const result of conformTable(table, profile, () => loadEngine(options.engine))) {
    tally.add(result);
    if (result.differences.length + result.notRun.length > 0) progress.clear();
    show(result, json);
    progress.show(++done);
  }
  progress.clear();
  showEnd(tally, json);
  return tally.passed ? Status.ok : DIFFERS;
};
