import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EngineFactory } from '../../src/cpu/engine.ts';
import { engines } from '../helpers/engines.ts';
import {
  goldenNames,
  goldensOf,
  missingProgram,
  otherReleases,
  readGolden,
} from '../helpers/fixtures.ts';
import { beyond } from './beyond.ts';
import { differences } from './compare.ts';
import { runFixture } from './run.ts';

for (const engine of engines)
  describe(`engine ${engine.name}`, () => {
    let factory: EngineFactory;
    beforeAll(async () => {
      if (engine.missing === null) factory = await engine.load();
    });

    it.for(goldenNames())('does what the kernel did: %s', async (name, ctx) => {
      const golden = readGolden(name);
      const lacking = engine.missing ?? beyond[engine.name]?.[name] ?? missingProgram(golden);
      if (lacking !== null) ctx.skip(lacking);
      const run = await runFixture(factory, golden);
      const found = differences(golden, run);
      if (found !== '') expect.fail(found);
    });

    describe.each(otherReleases())('under the profile of Linux %s', (release) => {
      it.for(goldensOf(release).map((golden) => [golden.name, golden] as const))(
        'does what that kernel did: %s',
        async ([name, golden], ctx) => {
          const lacking = engine.missing ?? beyond[engine.name]?.[basename(name)] ?? null;
          if (lacking !== null) ctx.skip(lacking);
          const found = differences(golden, await runFixture(factory, golden));
          if (found !== '') expect.fail(found);
        },
      );
    });
  });
