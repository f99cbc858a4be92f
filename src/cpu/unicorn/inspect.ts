/**
 * What must be known of a block before it runs for the first time: how many instructions it has, which of
 * them Unicorn must not execute, and which accesses the CPU would check and Unicorn does not.
 */
import { type MemoryUse, type OpcodeFacts, Scanner } from '../../x86/decode.ts';
import type { TrapKind } from '../engine.ts';

/** Longest block in instructions: Unicorn cuts longer ones itself, and then without telling us. */
const MAX_INSTRUCTIONS = 48;

/** An access to look at whenever the block is entered; its registers are those of the entry. */
export interface Guard {
  /** Which instruction of the block. */
  readonly instruction: number;
  readonly use: MemoryUse;
  /**
   * `aligned`: #GP unless on 16 bytes. `whole`: nothing may be stored when the second page is missing.
   * `present`: nothing at all may happen when a page is missing.
   */
  readonly rule: 'aligned' | 'whole' | 'present';
}

/** Why the first instruction of a block must not run. */
export interface Refusal {
  readonly kind: TrapKind;
  readonly text: string;
}

export interface BlockPlan {
  /** Offset behind each instruction that may run. */
  readonly ends: readonly number[];
  readonly guards: readonly Guard[];
  readonly refusal: Refusal | null;
  /** Offset at which the block must end because of what comes there; 0 = nowhere. */
  readonly split: number;
}

/** What a library cannot do; see docs/engines.md. */
export interface Quirks {
  /** Instruction-set extensions it executes correctly, by iced-x86's names. */
  readonly features: ReadonlySet<string>;
  /** Mnemonics among these that it lacks, breaks on, or gets wrong. */
  readonly refused: ReadonlySet<string>;
  /** Mnemonics that must begin their block, or flags are wrong when they fault. */
  readonly first: ReadonlySet<string>;
  /** A fault leaves the block's translation damaged. */
  readonly faultsDamage: boolean;
}

type RefusalKind = 'general-protection' | 'invalid-opcode' | 'debug' | 'unsupported';

const judge = (facts: OpcodeFacts, quirks: Quirks): RefusalKind | null => {
  if (facts.undefined) return 'invalid-opcode';
  if (facts.privileged) return 'general-protection';
  if (facts.mnemonic === 'int1') return 'debug';
  const lacking = facts.features.some((feature) => !quirks.features.has(feature));
  return lacking || quirks.refused.has(facts.mnemonic) ? 'unsupported' : null;
};

const verdicts = new WeakMap<Quirks, Map<OpcodeFacts, RefusalKind | null>>();

const verdict = (facts: OpcodeFacts, quirks: Quirks): RefusalKind | null => {
  let known = verdicts.get(quirks);
  if (known === undefined) {
    known = new Map();
    verdicts.set(quirks, known);
  }
  let kind = known.get(facts);
  if (kind === undefined) {
    kind = judge(facts, quirks);
    known.set(facts, kind);
  }
  return kind;
};

const LEGACY_PREFIXES: ReadonlySet<number> = new Set([
  ...[0x66, 0x67, 0xf0, 0xf2, 0xf3],
  ...[0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65],
]);
const isRex = (byte: number): boolean => (byte & 0xf0) === 0x40;

/** The CPU forgets a REX that is not the last prefix (SDM vol. 2, 2.2.1); Unicorn does not. */
const hasLostRex = (bytes: Uint8Array, at: number): boolean => {
  let rex = false;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i]!;
    const prefix = isRex(byte) || LEGACY_PREFIXES.has(byte);
    if (rex && prefix) return true;
    if (!prefix) return false;
    rex = isRex(byte);
  }
  return false;
};

const refusalOf = (scanner: Scanner, quirks: Quirks, lostRex: boolean): Refusal | null => {
  const kind = verdict(scanner.facts, quirks) ?? (lostRex ? 'unsupported' : null);
  if (kind === null) return null;
  return { kind, text: kind === 'unsupported' ? scanner.text() : '' };
};

/** Stores that the CPU makes as one and Unicorn in pieces. */
const WIDEST_STORE = 8;

const ruleFor = ({ aligned, mmx }: OpcodeFacts, use: MemoryUse): Guard['rule'] | null => {
  if (mmx) return 'present';
  if (aligned && use.size === 16) return 'aligned';
  return use.writes && use.size > WIDEST_STORE ? 'whole' : null;
};

const guardsOf = (scanner: Scanner, instruction: number): Guard[] => {
  if (!scanner.hasMemoryOperand()) return [];
  const guards: Guard[] = [];
  for (const use of scanner.memory()) {
    const rule = ruleFor(scanner.facts, use);
    if (rule !== null) guards.push({ instruction, use, rule });
  }
  return guards;
};

const registersOf = ({ use }: Guard): number =>
  (use.base === null ? 0 : 1 << use.base) | (use.index === null ? 0 : 1 << use.index);

/** Mnemonics that may have a guard, so that others need no closer look. */
const suspicious = (scanner: Scanner): boolean =>
  scanner.facts.aligned || scanner.facts.mmx || scanner.facts.stores > WIDEST_STORE;

const scanner = new Scanner();

/** First instruction with a guard on registers that an earlier one has changed, or -1. */
const firstUnknown = (bytes: Uint8Array, address: bigint, guards: readonly Guard[]): number => {
  if (!guards.some(({ instruction }) => instruction > 0)) return -1;
  scanner.open(bytes, address);
  let changed = 0;
  const last = guards.at(-1)!.instruction;
  for (let i = 0; i <= last && scanner.next(); i++) {
    const unknown = guards.some(
      (guard) => guard.instruction === i && (registersOf(guard) & changed) !== 0,
    );
    if (unknown) return i;
    changed |= scanner.written();
  }
  return -1;
};

/**
 * Plans the block at `address`.
 * @param bytes its code, up to the first page that cannot be executed
 */
export const planBlock = (bytes: Uint8Array, address: bigint, quirks: Quirks): BlockPlan => {
  const ends: number[] = [];
  const guards: Guard[] = [];
  let end = 0;
  scanner.open(bytes, address);
  while (scanner.next() && !scanner.truncated) {
    const refusal = refusalOf(scanner, quirks, hasLostRex(bytes, end));
    if (refusal !== null && end === 0) return { ends: [scanner.length], guards, refusal, split: 0 };
    if (refusal !== null || ends.length === MAX_INSTRUCTIONS || mustBeFirst(end, quirks)) {
      break;
    }
    if (suspicious(scanner)) guards.push(...guardsOf(scanner, ends.length));
    end += scanner.length;
    ends.push(end);
    if (scanner.facts.branches)
      return finish(bytes, address, { ends, guards, refusal: null, split: 0 });
  }
  if (end === 0) return { ends, guards, refusal: { kind: 'page-fault', text: '' }, split: 0 };
  return finish(bytes, address, { ends, guards, refusal: null, split: end });
};

/** Ends the plan before an access whose address cannot be known at the block's entry. */
const finish = (bytes: Uint8Array, address: bigint, plan: BlockPlan): BlockPlan => {
  const { ends, guards } = plan;
  const unknown = firstUnknown(bytes, address, guards);
  if (unknown < 0) return plan;
  return {
    ends: ends.slice(0, unknown),
    guards: guards.filter(({ instruction }) => instruction < unknown),
    refusal: null,
    split: ends[unknown - 1]!,
  };
};

const mustBeFirst = (end: number, quirks: Quirks): boolean =>
  end > 0 && quirks.first.has(scanner.facts.mnemonic);
