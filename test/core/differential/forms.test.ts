import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowOf } from '../../../src/cpu/core/rows/index.ts';
import { loadEngine } from '../../../src/host/node/engines.ts';
import { type Form, instructionForms } from '../../../src/x86/forms.ts';
import { missing } from '../../helpers/requirements.ts';
import { EngineRunner } from '../native/engine-runner.ts';
import { NativeRunner } from '../native/runner.ts';
import { differences, textOf, undefinedFlags } from './compare.ts';
import { isLeftOut, isUndefinedCase } from './exceptions.ts';
import { caseOf, type Made, make, stateFor } from './generate.ts';
import { Random } from './random.ts';

const STATES = 20;
/** Milliseconds; a busy machine needs some. */
const TIMEOUT = 600_000;
const SEED = 6;

/** Reasons to leave a form to other tests. */
const covered = (form: Form): boolean => rowOf(form) !== undefined && !isLeftOut(form.mnemonic);

const madeOf = (form: Form, random: Random): Made[] => {
  const made: Made[] = [];
  const either = form.operands.some(({ memory, register }) => memory && register !== null);
  for (let i = 0; i < STATES; i++) {
    const one = make(form, either ? i % 2 === 0 : true, random);
    if (one !== undefined) made.push(one);
  }
  return made;
};

describe('one instruction against this machine’s CPU', () => {
  let native: NativeRunner | undefined;
  let ours: EngineRunner;
  beforeAll(async () => {
    if (missing('gcc') !== null) return;
    native = new NativeRunner();
    ours = new EngineRunner((await loadEngine('core')).create());
  });
  afterAll(() => native?.dispose());

  it(
    'gives the same state for every form',
    (ctx) => {
      if (native === undefined) return ctx.skip(missing('gcc')!);
      const random = new Random(SEED);
      const made = instructionForms()
        .filter(covered)
        .flatMap((form) => madeOf(form, random));
      const cases = made.map(({ bytes }) => caseOf(bytes, stateFor(random)));
      const outcomes = native.run(cases);
      const failures: string[] = [];
      let compared = 0;
      outcomes.forEach((theirs, i) => {
        const { instruction, bytes } = made[i]!;
        if (isUndefinedCase(instruction, cases[i]!.state)) return;
        compared++;
        const found = differences(theirs, ours.run(cases[i]!), undefinedFlags(instruction));
        if (found.length > 0)
          failures.push(
            `${textOf(instruction)} [${Buffer.from(bytes).toString('hex')}]\n  ${found.join('\n  ')}`,
          );
      });
      expect(
        failures.length === 0
          ? ''
          : `${failures.length} of ${compared}:\n${failures.slice(0, 60).join('\n')}`,
      ).toBe('');
      expect(compared).toBeGreaterThan(15_000);
    },
    TIMEOUT,
  );
});
