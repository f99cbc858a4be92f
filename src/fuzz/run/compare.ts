/** Where two outcomes of one case differ. */
import { hex } from '../../base/bytes.ts';
import { REGISTER_NAMES } from '../case.ts';
import { CALL_SP, DATA, PAGE } from '../guest/layout.ts';
import { addressOf, FLAGS, type Outcome, SP } from '../guest/outcome.ts';
import type { SeenHit } from './hits.ts';

/** One fact that should be equal and is not. */
export interface Difference {
  /** `ax`, `flags`, `end`, `signal`, `address`, `ip`, `trapno`, `memory`, `fx`, `hits` … */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

const registers = (a: Outcome, b: Outcome, into: Difference[]): void => {
  for (let reg = 0; reg <= FLAGS; reg++) {
    const [expected = 0n, got = 0n] = [a.regs[reg], b.regs[reg]];
    if (expected === got) continue;
    const what = reg === FLAGS ? 'flags' : (REGISTER_NAMES[reg] ?? '');
    into.push({ what, expected: hex(expected), got: hex(got) });
  }
};

const signals = (a: Outcome, b: Outcome, into: Difference[]): void => {
  if (a.signal === null || b.signal === null) return;
  const facts = [
    ['signal', a.signal.signal, b.signal.signal],
    ['code', a.signal.code, b.signal.code],
    ['ip', a.signal.ip, b.signal.ip],
    ['address', a.signal.address, b.signal.address],
    ['trapno', a.signal.trapNumber, b.signal.trapNumber],
    ['error', a.signal.error, b.signal.error],
  ] as const;
  for (const [what, expected, got] of facts)
    if (expected !== got)
      into.push({ what, expected: hex(BigInt(expected)), got: hex(BigInt(got)) });
};

/** The stack below this address belongs to nobody any more. */
const deadBelow = ({ regs }: Outcome): bigint => {
  const sp = regs[SP] ?? 0n;
  // Of a stack that the function has left nothing is known.
  const isOnStack = sp > CALL_SP - ON_STACK && sp < CALL_SP + ON_STACK;
  return isOnStack ? sp : CALL_SP + WORD;
};
const ON_STACK = 0x1000n;
const WORD = 8n;

const STACK_AT = DATA.pages * PAGE;

/** First byte that differs, the dead part of the stack left out. */
const memory = (a: Outcome, b: Outcome, into: Difference[]): void => {
  if (Buffer.compare(a.memory, b.memory) === 0) return;
  const dead = deadBelow(a);
  for (let i = 0; i < a.memory.length; i++) {
    if (a.memory[i] === b.memory[i] || (i >= STACK_AT && addressOf(i) < dead)) continue;
    const from = i & ~7;
    const word = (outcome: Outcome): string =>
      hex(new DataView(outcome.memory.buffer).getBigUint64(from, true));
    into.push({ what: `memory ${hex(addressOf(from))}`, expected: word(a), got: word(b) });
    return;
  }
};

/** @param a what should be, @param b what is */
export const compare = (a: Outcome, b: Outcome): Difference[] => {
  if (a.end !== b.end) {
    const name = ({ end, signal }: Outcome): string =>
      signal === null ? end : `signal ${signal.signal} at ${hex(signal.ip)}`;
    return [{ what: 'end', expected: name(a), got: name(b) }];
  }
  const found: Difference[] = [];
  signals(a, b, found);
  registers(a, b, found);
  memory(a, b, found);
  if (a.fx !== null && b.fx !== null && Buffer.compare(a.fx, b.fx) !== 0)
    found.push({ what: 'fx', expected: 'as unprobed', got: 'other' });
  return found;
};

const nameOf = (hit: SeenHit | undefined): string =>
  hit === undefined ? 'none' : `${hit.on} of probe ${hit.probe}.${hit.consumer}`;

/** Handlers in order, and the registers that the first of them saw differently. */
export const compareHits = (
  expected: readonly SeenHit[],
  got: readonly SeenHit[],
): Difference[] => {
  const count = Math.max(expected.length, got.length);
  for (let i = 0; i < count; i++) {
    const [should, is] = [expected[i], got[i]];
    if (should === undefined || is === undefined || nameOf(should) !== nameOf(is))
      return [{ what: `hit ${i + 1}`, expected: nameOf(should), got: nameOf(is) }];
    const reg = should.regs.findIndex((value, index) => value !== is.regs[index]);
    if (reg < 0) continue;
    const what = `${[...REGISTER_NAMES, 'ip', 'flags'][reg]} at hit ${i + 1}`;
    return [{ what, expected: hex(should.regs[reg] ?? 0n), got: hex(is.regs[reg] ?? 0n) }];
  }
  return [];
};
