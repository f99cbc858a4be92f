import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowOf } from '../../../src/cpu/core/rows/index.ts';
import { loadEngine } from '../../../src/host/node/engines.ts';
import { type Form, instructionForms } from '../../../src/x86/forms.ts';
import { missing } from '../../helpers/requirements.ts';
import { type Case, CODE_SIZE } from '../native/case.ts';
import { EngineRunner } from '../native/engine-runner.ts';
import { NativeRunner } from '../native/runner.ts';
import { definedFlags, differences, readFlags, textOf, undefinedFlags } from './compare.ts';
import { isLeftOut, isTransfer, mayBeUndefined } from './exceptions.ts';
import { caseOf, make, stateFor } from './generate.ts';
import { Random } from './random.ts';

const SEQUENCES = 20_000;
const LONGEST = 10;
const BATCH = 2_000;
/** Milliseconds; a busy machine needs some. */
const TIMEOUT = 600_000;
const SEED = 20_000;

interface Sequence {
  readonly one: Case;
  readonly text: string;
  /** Flags that are undefined at its end. */
  readonly masked: bigint;
}

/** Instructions one after another; none depends on a flag that one before it has left undefined. */
const sequenceOf = (forms: readonly Form[], random: Random): Sequence => {
  const code: number[] = [];
  const text: string[] = [];
  let masked = 0n;
  const wanted = 2 + random.below(LONGEST - 1);
  for (let tries = 0; tries < 40 && text.length < wanted; tries++) {
    const made = make(random.pick(forms), random.below(2) === 0, random);
    if (made === undefined || code.length + made.bytes.length >= CODE_SIZE) continue;
    if ((readFlags(made.instruction) & masked) !== 0n) continue;
    code.push(...made.bytes);
    text.push(textOf(made.instruction));
    masked = (masked & ~definedFlags(made.instruction)) | undefinedFlags(made.instruction);
  }
  return { one: caseOf(Uint8Array.from(code), stateFor(random)), text: text.join('; '), masked };
};

describe('sequences against this machine’s CPU', () => {
  let native: NativeRunner | undefined;
  let ours: EngineRunner;
  beforeAll(async () => {
    if (missing('gcc') !== null) return;
    native = new NativeRunner();
    ours = new EngineRunner((await loadEngine('core')).create());
  });
  afterAll(() => native?.dispose());

  it(
    `gives the same state after each of ${SEQUENCES}`,
    (ctx) => {
      if (native === undefined) return ctx.skip(missing('gcc')!);
      const random = new Random(SEED);
      const forms = instructionForms().filter(
        (form) =>
          rowOf(form) !== undefined &&
          !isLeftOut(form.mnemonic) &&
          !isTransfer(form) &&
          !mayBeUndefined(form),
      );
      const failures: string[] = [];
      for (let done = 0; done < SEQUENCES; done += BATCH) {
        const batch = Array.from({ length: BATCH }, () => sequenceOf(forms, random));
        native.run(batch.map(({ one }) => one)).forEach((theirs, i) => {
          const { one, text, masked } = batch[i]!;
          // A fault in the middle leaves flags undefined that are defined at the end.
          const compared = theirs.end === 'int3' ? masked : 0x8d5n;
          const found = differences(theirs, ours.run(one), compared);
          if (found.length > 0)
            failures.push(
              `${text} [${Buffer.from(one.code).toString('hex')}]\n  ${found.join('\n  ')}`,
            );
        });
      }
      expect(
        failures.length === 0 ? '' : `${failures.length}:\n${failures.slice(0, 20).join('\n')}`,
      ).toBe('');
    },
    TIMEOUT,
  );
});
