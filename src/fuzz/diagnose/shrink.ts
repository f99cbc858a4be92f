/** Makes a case smaller while it stays a finding. */
import { fromHex, toHex } from '../../base/bytes.ts';
import type { FuzzCase } from '../case.ts';
import { type Line, listingOf, relink } from './listing.ts';

/** Smaller variants of a case, the boldest first. */
type Reduction = (test: FuzzCase) => Iterable<FuzzCase>;

const without = <T>(items: readonly T[], index: number): T[] => items.filter((_, i) => i !== index);

const fewerProbes: Reduction = function* (test) {
  if (test.probes.length > 1)
    for (const index of test.probes.keys()) yield { ...test, probes: without(test.probes, index) };
};

const fewerConsumers: Reduction = function* (test) {
  for (const [index, probe] of test.probes.entries()) {
    const change = (consumers: FuzzCase['probes'][number]['consumers']): FuzzCase => ({
      ...test,
      probes: test.probes.map((one, i) => (i === index ? { ...one, consumers } : one)),
    });
    if (probe.consumers.length > 1)
      for (const at of probe.consumers.keys()) yield change(without(probe.consumers, at));
    for (const [at, { kind, acts }] of probe.consumers.entries()) {
      if (kind !== 'entry') yield change(probe.consumers.with(at, { kind: 'entry' }));
      if (acts !== undefined) yield change(probe.consumers.with(at, { kind }));
    }
  }
};

const fewerEvents: Reduction = function* (test) {
  const { far, states, after, ...rest } = test;
  const events = { ...(far && { far }), ...(states && { states }), ...(after && { after }) };
  for (const name of Object.keys(events)) {
    const { [name as keyof typeof events]: _, ...others } = events;
    yield { ...rest, ...others };
  }
};

const fewerCalls: Reduction = function* (test) {
  for (let calls = 1; calls < test.calls; calls++) yield { ...test, calls };
};

const fewerRegisters: Reduction = function* (test) {
  if (Object.keys(test.regs).length === 0) return;
  yield { ...test, regs: {} };
  for (const name of Object.keys(test.regs)) {
    const { [name as keyof FuzzCase['regs']]: _, ...regs } = test.regs;
    yield { ...test, regs };
  }
};

const USUAL_PLACE = 0x100;

const usualPlace: Reduction = function* (test) {
  if (test.seed !== 0) yield { ...test, seed: 0 };
  if (test.at === USUAL_PLACE) return;
  yield* [moveTo(test, USUAL_PLACE)];
};

/** The code at another place: what it addresses outside itself stays where it is. */
const moveTo = (test: FuzzCase, at: number): FuzzCase => {
  const code = fromHex(test.code) ?? new Uint8Array();
  const lines = listingOf(code, 0n).map((line) => {
    const { relative } = line;
    const inside = relative === null || (relative.target >= 0 && relative.target <= code.length);
    return inside
      ? line
      : { ...line, relative: { ...relative, target: relative.target + test.at - at } };
  });
  const moved = relink(lines, code.length);
  return moved === null ? test : { ...test, at, code: toHex(moved.code) };
};

/** The case with only these of its instructions. */
function* keeping(test: FuzzCase, size: number, kept: readonly Line[]): Generator<FuzzCase> {
  const relinked = relink(kept, size);
  if (relinked === null || relinked.code.length === 0) return;
  const probes = test.probes.map((probe) => ({ ...probe, site: relinked.moved(probe.site) }));
  if (probes.some(({ site }) => site >= relinked.code.length)) return;
  yield { ...test, code: toHex(relinked.code), probes };
}

/** Takes out runs of instructions: halves first, single ones last. */
const fewerInstructions: Reduction = function* (test) {
  const code = fromHex(test.code) ?? new Uint8Array();
  const lines = listingOf(code, 0n);
  for (let size = lines.length >> 1; size >= 1; size >>= 1)
    for (let from = lines.length - size; from >= 0; from--)
      yield* keeping(test, code.length, [...lines.slice(0, from), ...lines.slice(from + size)]);
};

/** Takes out two that belong together, such as a push and its pop. */
const fewerPairs: Reduction = function* (test) {
  const code = fromHex(test.code) ?? new Uint8Array();
  const lines = listingOf(code, 0n);
  if (lines.length > MANY) return;
  for (let first = 0; first < lines.length; first++)
    for (let second = first + 2; second < lines.length; second++)
      yield* keeping(test, code.length, without(without(lines, second), first));
};
const MANY = 14;

const REDUCTIONS: readonly Reduction[] = [
  fewerProbes,
  fewerEvents,
  fewerCalls,
  fewerInstructions,
  fewerPairs,
  fewerConsumers,
  fewerRegisters,
  usualPlace,
];

/** Runs that shrinking one case may take. */
const PATIENCE = 1200;

/** @param stillFails runs a smaller case; true when it is the same finding */
export const shrink = (test: FuzzCase, stillFails: (smaller: FuzzCase) => boolean): FuzzCase => {
  let best = test;
  let left = PATIENCE;
  for (let progress = true; progress && left > 0; ) {
    progress = false;
    for (const reduce of REDUCTIONS)
      for (let again = true; again && left > 0; ) {
        again = false;
        for (const smaller of reduce(best)) {
          if (left-- <= 0) break;
          if (smaller === best || !stillFails(smaller)) continue;
          best = smaller;
          again = true;
          progress = true;
          break;
        }
      }
  }
  return best;
};
