/** Every kind of finding, once found, stays found: on the kernels it was found on, for the reason it had. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkCase } from '../../src/fuzz/case.ts';
import { Runner } from '../../src/fuzz/run/runner.ts';
import { confirm, type Finding, reduced } from '../../src/fuzz/search/finding.ts';
import { PROFILE_NAMES } from '../../src/uprobes/index.ts';
import { cpuEngines as engines } from '../helpers/engines.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/regressions');

const regressions = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    return [name.replace('.json', ''), JSON.parse(text) as Finding] as const;
  });

describe.each(engines)('engine $name', (engine) => {
  let runner: Runner;
  beforeAll(async () => {
    if (engine.missing === null) runner = new Runner({ factory: await engine.load() });
  });
  afterAll(() => runner?.dispose());

  it.for(regressions)('%s', ([, finding], ctx) => {
    if (engine.missing !== null) ctx.skip(engine.missing);
    const test = checkCase(finding.case);
    const differs = PROFILE_NAMES.filter(
      (profile) => runner.run({ ...test, profile }).kind === 'different',
    );
    expect(differs).toEqual(finding.profiles);
    expect(finding.instructions.length).toBeLessThanOrEqual(6);
    const small = reduced(runner, test, runner.run(test));
    expect(small).toMatchObject({ cause: finding.cause, title: finding.title });
    expect(confirm(runner, small!)?.profiles).toEqual(finding.profiles);
  });
});
