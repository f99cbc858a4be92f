/**
 * Runs a table of recorded instruction cases and says where we differ from the kernel that made it.
 * Reads nothing itself: text comes in, results go out one by one.
 */
import type { EngineFactory } from '../cpu/engine.ts';
import { type Profile, profileOfRelease } from '../uprobes/index.ts';
import { type AcceptanceCase, readAcceptanceCase, runAcceptanceCase } from './acceptance-table.ts';
import type { CaseResult } from './difference.ts';
import { type ExecTable, readExecTable } from './exec-table.ts';
import { Executor } from './execute.ts';
import { badTable, Field } from './fields.ts';
import { readVerdictCase, runVerdictCase, type VerdictCase } from './verdict-table.ts';

export type { CaseResult, Difference, NotRun } from './difference.ts';
export { counts, Tally } from './tally.ts';

/** A table, told apart by what it holds. */
export type Table =
  | { readonly kind: 'execution'; readonly table: ExecTable }
  | { readonly kind: 'verdicts'; readonly cases: readonly VerdictCase[] }
  | { readonly kind: 'acceptance'; readonly cases: readonly AcceptanceCase[] };

/** The release that made tables which do not name theirs. */
const UNNAMED_RELEASE = '6.18';

const parse = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badTable(`${name} is no JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
};

/**
 * @param name how messages call the table
 * @throws TraplineError `bad-table` naming the place that does not fit
 */
export const readTable = (text: string, name: string): Table => {
  const field = new Field(parse(text, name), name);
  const table = tableOf(field);
  const { length } = table.kind === 'execution' ? table.table.cases : table.cases;
  if (length === 0) throw badTable(`${name} holds no cases`);
  return table;
};

const tableOf = (field: Field): Table => {
  if (field.isObject()) return { kind: 'execution', table: readExecTable(field) };
  const items = field.items();
  const [first] = items;
  if (first?.isObject() && first.at('result').present)
    return { kind: 'acceptance', cases: items.map(readAcceptanceCase) };
  return { kind: 'verdicts', cases: items.map(readVerdictCase) };
};

/** How many cases a table has. */
export const caseCount = (table: Table): number =>
  table.kind === 'execution' ? table.table.cases.length : table.cases.length;

/** The profile of the kernel that made the table. */
export const profileOfTable = (table: Table): Profile | undefined =>
  profileOfRelease((table.kind === 'execution' && table.table.kernel) || UNNAMED_RELEASE);

/** Runs case after case. The engine is only asked for where instructions are executed. */
export async function* conform(
  table: Table,
  profile: Profile,
  engine: () => Promise<EngineFactory>,
): AsyncGenerator<CaseResult> {
  if (table.kind === 'acceptance')
    for (const test of table.cases) yield runAcceptanceCase(test, profile);
  else if (table.kind === 'verdicts')
    for (const test of table.cases) yield runVerdictCase(test, profile);
  else {
    const executor = new Executor(table.table, await engine(), profile);
    try {
      for (const test of table.table.cases) yield executor.run(test);
    } finally {
      executor.dispose();
    }
  }
}
