/** `npm run bench`: measures, prints a table, and with `--save` stores it under bench/results/. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { standardCost } from '../fuzz/index.ts';
import { loadEngine } from '../host/node/index.ts';
import type { EngineFactory } from '../index.ts';
import { baseCost, hitCost, patternAttachTime } from './cases.ts';
import { LISTENERS, type ListenerName } from './listeners.ts';
import type { TargetName } from './program.ts';
import { instructionTime, speedProgram, WORKLOADS, type Workload } from './speed.ts';

/** One measured number. Ratios are to the engine's own base row of the same run, or to the row a case names. */
interface Row {
  readonly name: string;
  readonly engine: string;
  readonly value: number;
  readonly unit: 'us' | 'ms' | 'ns';
  /** value / base; null for rows that have no base. */
  readonly ratio: number | null;
  /** What the ratio or the value must not exceed; null = for information. */
  readonly limit: number | null;
}

interface HitCase {
  readonly name: string;
  readonly target: TargetName;
  readonly profile: string;
  readonly kind: ListenerName;
  readonly limit: number | null;
  /** Name of the row the ratio is to; absent = the base. */
  readonly of?: string;
}

const HITS: readonly HitCase[] = [
  { name: 'hit, emulated nop', target: 'nop', profile: 'k6.18', kind: 'entry', limit: 2 },
  { name: 'hit, emulated push', target: 'push', profile: 'k6.18', kind: 'entry', limit: 2 },
  { name: 'hit, stepped ret', target: 'ret', profile: 'k6.18', kind: 'entry', limit: 3 },
  { name: 'hit, nop5 call', target: 'nop5', profile: 'k6.18', kind: 'entry', limit: 2 },
  { name: 'hit, nop10 call', target: 'nop10', profile: 'k7.3', kind: 'entry', limit: 2 },
  { name: 'return, nop, by int3', target: 'nop', profile: 'k6.10', kind: 'return', limit: null },
  { name: 'return, nop, by syscall', target: 'nop', profile: 'k6.18', kind: 'return', limit: null },
  { name: 'perf count, nop', target: 'nop', profile: 'k6.18', kind: 'perf-count', limit: null },
  { name: 'perf sample, nop', target: 'nop', profile: 'k6.18', kind: 'perf-sample', limit: null },
  {
    name: 'tracefs, 8 args, to a hit',
    target: 'nop',
    profile: 'k6.18',
    kind: 'tracefs',
    limit: 3,
    of: 'hit, emulated nop',
  },
];

/** Loop lengths that take a tenth of a second or more an engine and row. */
const CALLS: Readonly<Record<string, number>> = { unicorn: 20_000, 'unicorn-native': 100_000 };

/** Each number is the best of this many runs: the others were disturbed more. */
const RUNS = 5;

const repeated = async (measure: () => Promise<number> | number): Promise<number> => {
  const values: number[] = [];
  for (let i = 0; i < RUNS; i++) values.push(await measure());
  return Math.min(...values);
};

const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

const hitRows = async (engine: EngineFactory): Promise<Row[]> => {
  const calls = CALLS[engine.name] ?? 20_000;
  const base = await repeated(() => baseCost(engine, calls));
  const rows: Row[] = [
    {
      name: 'base: int3, RIP written',
      engine: engine.name,
      value: base,
      unit: 'us',
      ratio: 1,
      limit: null,
    },
  ];
  for (const { name, target, profile, kind, limit, of } of HITS) {
    progress(`${engine.name}: ${name}`);
    const listen = LISTENERS[kind];
    const value = await repeated(() => hitCost(engine, target, calls, { profile, listen }));
    const whole = rows.find((row) => row.name === of)?.value ?? base;
    rows.push({ name, engine: engine.name, value, unit: 'us', ratio: value / whole, limit });
  }
  return rows;
};

/** Places of the multi link whose attaching is measured. */
const PLACES = 10_000;

const attachRow = async (engine: EngineFactory): Promise<Row> => {
  progress(`${engine.name}: attach by pattern`);
  const value = await repeated(() => patternAttachTime(engine, PLACES));
  const name = `attach ${PLACES.toLocaleString('en')} by pattern`;
  return { name, engine: engine.name, value, unit: 'ms', ratio: null, limit: 2000 };
};

/** Cases a second a core must be at least 1,500 on `unicorn`. */
const CASE_LIMIT = 667;
const CASES = 3000;

const fuzzRow = async (engine: EngineFactory): Promise<Row> => {
  progress(`${engine.name}: fuzzing case`);
  const value = await repeated(() => standardCost(engine, CASES, () => performance.now()));
  const limit = engine.name === 'unicorn' ? CASE_LIMIT : null;
  return { name: 'fuzzing case', engine: engine.name, value, unit: 'us', ratio: null, limit };
};

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Milliseconds of a whole command, from nothing. */
const commandTime = (words: readonly string[]): number => {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, [at('dist/cli/main.js'), ...words]);
  if (status !== 0) throw new Error(`trapline ${words.join(' ')} exited with ${status}`);
  return performance.now() - start;
};

const HELLO = at('fixtures/build/hello-static');

/** Of core, a twentieth of unicorn's time is asked for. */
const speedRows = async (engines: readonly EngineFactory[]): Promise<Row[]> => {
  const program = speedProgram(at('bench/guest/speed.c'));
  if (program === undefined) {
    console.error('bench: no gcc; instructions are not timed');
    return [];
  }
  const rows: Row[] = [];
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    let base: number | null = null;
    for (const engine of engines) {
      progress(`${engine.name}: ${workload}`);
      const value = await repeated(() => instructionTime(engine, program, workload));
      if (engine.name === 'unicorn') base = value;
      rows.push({
        name: `an instruction of ${workload}`,
        engine: engine.name,
        value,
        unit: 'ns',
        ratio: base === null ? null : value / base,
        limit: engine.name === 'core' ? 0.05 : null,
      });
    }
  }
  return rows;
};

const startRows = async (engines: readonly EngineFactory[]): Promise<Row[]> => {
  const help = await repeated(() => commandTime(['--help']));
  const rows: Row[] = [
    { name: 'trapline --help', engine: '-', value: help, unit: 'ms', ratio: null, limit: 150 },
  ];
  if (!existsSync(HELLO)) {
    console.error(`bench: no ${HELLO}; build it with: make -C fixtures`);
    return rows;
  }
  for (const { name } of engines) {
    progress(`${name}: hello`);
    const value = await repeated(() => commandTime(['run', '--engine', name, HELLO]));
    const limit = name === 'unicorn' ? 1000 : null;
    rows.push({
      name: 'static glibc hello, cold',
      engine: name,
      value,
      unit: 'ms',
      ratio: null,
      limit,
    });
  }
  return rows;
};

const installed = async (): Promise<EngineFactory[]> => {
  const engines: EngineFactory[] = [];
  for (const name of ['unicorn', 'unicorn-native', 'core'] as const) {
    try {
      engines.push(await loadEngine(name));
    } catch (error) {
      console.error(`bench: ${error instanceof Error ? error.message : error}`);
    }
  }
  return engines;
};

const line = (cells: readonly string[]): string => {
  const [name = '', engine = '', value = '', ratio = '', limit = ''] = cells;
  return `${name.padEnd(28)}${engine.padEnd(16)}${value.padStart(12)}${ratio.padStart(9)}${limit.padStart(9)}`;
};

const print = (rows: readonly Row[]): void => {
  console.log(line(['', 'engine', 'value', 'ratio', 'limit']));
  for (const { name, engine, value, unit, ratio, limit } of rows)
    console.log(
      line([
        name,
        engine,
        `${value.toFixed(2)} ${unit}`,
        ratio === null ? '' : ratio.toFixed(2),
        limit === null ? '' : `${limit}${ratio === null ? ` ${unit}` : ''}`,
      ]),
    );
};

const save = (rows: readonly Row[]): void => {
  const date = new Date().toISOString().slice(0, 10);
  const file = at(`bench/results/${date}.json`);
  mkdirSync(at('bench/results'), { recursive: true });
  const host = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    // More than the cores: neighbours have disturbed the run.
    load: loadavg()[0],
  };
  writeFileSync(file, `${JSON.stringify({ date, host, runs: RUNS, rows }, null, 2)}\n`);
  console.log(`stored in ${file}`);
};

const main = async (): Promise<void> => {
  const engines = await installed();
  const rows: Row[] = [];
  for (const engine of engines)
    rows.push(...(await hitRows(engine)), await attachRow(engine), await fuzzRow(engine));
  rows.push(...(await speedRows(engines)), ...(await startRows(engines)));
  progress('');
  print(rows);
  if (process.argv.includes('--save')) save(rows);
};

await main();
