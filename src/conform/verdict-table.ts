/** A table of what was made of instructions, in the form of `insn-table.json`. */
import { Sig } from '../abi/signals.ts';
import { fromHex } from '../base/bytes.ts';
import { explain, type Profile } from '../uprobes/index.ts';
import { type CaseResult, Comparison } from './difference.ts';
import type { Field } from './fields.ts';

export interface VerdictCase {
  readonly name: string;
  readonly bytes: string;
  readonly accepted: boolean;
  readonly errno: string;
  readonly how: 'emulated' | 'xol' | null;
  readonly optimised: boolean;
  /** The plain run came to SIGSEGV at the instruction itself. */
  readonly faults: boolean;
}

const faultsOf = (plain: Field): boolean =>
  plain.present &&
  plain.at('signal').integer() === Sig.SIGSEGV &&
  plain.at('rip_off').orNull((offset) => offset.integer()) === 0;

export const readVerdictCase = (field: Field): VerdictCase => ({
  name: field.at('name').text(),
  bytes: field.at('bytes').hex(),
  accepted: field.at('accepted').flag(),
  errno: field.at('errno').text(),
  how: field.at('how').orNull((how) => how.oneOf('emulated', 'xol')),
  optimised: field.at('optimised').flag(),
  faults: faultsOf(field.at('plain')),
});

/** What was seen of a probe: an emulation whose store faults falls back on a step. */
const seen = (verdict: 'refuse' | 'emulate' | 'step', faults: boolean): string => {
  if (verdict === 'refuse') return 'nothing';
  return verdict === 'emulate' && !faults ? 'emulated' : 'xol';
};

export const runVerdictCase = (test: VerdictCase, profile: Profile): CaseResult => {
  const comparison = new Comparison(test.name);
  const got = explain(fromHex(test.bytes) ?? new Uint8Array(0), profile);
  comparison.compare(
    'analysis',
    new Map([
      ['accepted', String(test.accepted)],
      ['errno', test.errno],
      ['how', test.how ?? 'nothing'],
      ['optimised', String(test.optimised)],
    ]),
    new Map([
      ['accepted', String(got.verdict !== 'refuse')],
      ['errno', got.errno ?? 'ok'],
      ['how', seen(got.verdict, test.faults)],
      ['optimised', String(got.optimisable)],
    ]),
  );
  return comparison.result();
};
