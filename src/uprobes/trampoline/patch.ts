/** Turns a site into a call and back, byte by byte as the kernel does (spec sections 5.3, 5.4 and 5.7). */
import { view } from '../../base/bytes.ts';
import type { Mm } from '../../kernel/mm.ts';
import type { Vma } from '../../memory/vma.ts';
import type { MmState } from '../core/mm-state.ts';
import type { Shared } from '../core/shared.ts';
import { BREAKPOINT, changeText, readSite, type TextErrno, type Verify } from '../core/text.ts';
import type { Uprobe } from '../core/uprobe.ts';
import type { OptimisedForm } from './forms.ts';
import { giveBack, type Trampoline, trampolineFor } from './placement.ts';

const DISPLACEMENT_SIZE = 4;

const startsWith = (bytes: Uint8Array, start: readonly number[], from = 0): boolean =>
  start.every((byte, index) => index < from || bytes[index] === byte);

/** Verification of a step: `first` at byte 0, and the rest of the form's head if asked. */
const expects =
  (first: number, rest: readonly number[] = []): Verify =>
  (current) =>
    current[0] === first && startsWith(current, rest, 1) ? 'write' : 'fail';

const callEndOf = (form: OptimisedForm, site: bigint): bigint => site + BigInt(form.size);

/** The site's bytes in their optimised form. */
const optimisedBytes = (form: OptimisedForm, site: bigint, trampoline: bigint): Uint8Array => {
  const bytes = new Uint8Array(form.size);
  bytes.set(form.head);
  const displacement = Number(trampoline - callEndOf(form, site));
  view(bytes).setInt32(form.size - DISPLACEMENT_SIZE, displacement, true);
  return bytes;
};

const formOf = ({ rules }: Shared, { analysis }: Uprobe): OptimisedForm | null =>
  analysis?.optimise == null ? null : rules.forms[analysis.optimise];

/** The mm in which the trampoline of a site is looked for; see `unoptimiseUsesProbedMm`. */
const lookedAt = (shared: Shared, state: MmState, caller: Mm | null | 'self'): Mm | null =>
  shared.profile.unoptimiseUsesProbedMm || caller === 'self' ? state.mm : caller;

/** The site calls a trampoline. */
export const isOptimised = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  site: bigint,
  caller: Mm | null | 'self',
): boolean => {
  const form = formOf(shared, uprobe);
  if (form === null) return false;
  const bytes = readSite(state, site);
  if (bytes === null || !startsWith(bytes, form.head)) return false;
  const displacement = view(bytes).getInt32(form.size - DISPLACEMENT_SIZE, true);
  const target = callEndOf(form, site) + BigInt(displacement);
  const vma = lookedAt(shared, state, caller)?.space.find(target);
  return vma?.special === shared.trampolineMapping;
};

/** One step of a patch. */
export interface PatchStep {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly verify: Verify;
  /** The write that ends an un-optimisation is a removal: it counts, and may drop the page. */
  readonly removing?: boolean;
}

const applyStep = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  site: bigint,
  { offset, bytes, verify, removing = false }: PatchStep,
): TextErrno | null =>
  changeText(shared, state, uprobe, {
    vma,
    site,
    address: site + BigInt(offset),
    bytes,
    verify,
    installing: !removing,
    countsReference: removing,
  });

/** How a breakpoint becomes a call: `bytes` are what the site shall hold. */
export const optimiseSteps = (form: OptimisedForm, bytes: Uint8Array): readonly PatchStep[] => [
  { offset: 1, bytes: bytes.slice(1), verify: expects(BREAKPOINT) },
  {
    offset: 0,
    bytes: bytes.slice(0, 1),
    verify: expects(BREAKPOINT, form.careful ? form.head : []),
  },
];

/** How a call becomes a nop: `original` are the nop's bytes. */
export const unoptimiseSteps = (
  form: OptimisedForm,
  original: Uint8Array,
): readonly PatchStep[] => {
  const [first = 0] = form.head;
  return [
    { offset: 0, bytes: Uint8Array.of(BREAKPOINT), verify: expects(first, form.head) },
    { offset: 1, bytes: original.slice(1, 5), verify: expects(BREAKPOINT, form.head) },
    { offset: 0, bytes: original.slice(0, 1), verify: expects(BREAKPOINT), removing: true },
  ];
};

/** What nop10 does when the last byte could not be written: bytes 1-4 are the nop's again. */
const undoTail = (uprobe: Uprobe): PatchStep => ({
  offset: 1,
  bytes: uprobe.analysis?.stepping.bytes.slice(1, 5) ?? new Uint8Array(0),
  verify: () => 'write',
});

const patch = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  site: bigint,
  form: OptimisedForm,
  trampoline: Trampoline,
): boolean => {
  const vma = state.mm.space.find(site);
  if (vma === undefined) return false;
  const bytes = optimisedBytes(form, site, trampoline.address);
  const [tail, head] = shared.rules.optimiseSteps(form, bytes);
  if (tail === undefined || head === undefined) return false;
  if (applyStep(shared, state, uprobe, vma, site, tail) !== null) return false;
  if (applyStep(shared, state, uprobe, vma, site, head) === null) return true;
  if (form.careful) applyStep(shared, state, uprobe, vma, site, undoTail(uprobe));
  return false;
};

/** After the handlers of an int3 hit. A failure marks the uprobe for ever, in every process. */
export const optimise = (shared: Shared, state: MmState, uprobe: Uprobe, site: bigint): void => {
  const form = formOf(shared, uprobe);
  if (form === null || uprobe.optimiseFailed || state.changing) return;
  if (readSite(state, site)?.[0] !== BREAKPOINT) return;
  const trampoline = trampolineFor(shared, state, site, callEndOf(form, site));
  if (trampoline !== null && patch(shared, state, uprobe, site, form, trampoline)) {
    shared.counters.optimisedSites++;
    return;
  }
  uprobe.optimiseFailed = true;
  if (trampoline !== null) giveBack(shared, state, trampoline);
};

/**
 * Preconditions: {@link isOptimised}. A nop10 keeps its call as the operand of the nop, for a thread
 * that stands between lea and call.
 */
export const unoptimise = (
  shared: Shared,
  state: MmState,
  uprobe: Uprobe,
  vma: Vma,
  site: bigint,
): TextErrno | null => {
  const form = formOf(shared, uprobe);
  const original = uprobe.analysis?.stepping.bytes;
  if (form === null || original === undefined) return null;
  for (const step of shared.rules.unoptimiseSteps(form, original)) {
    const error = applyStep(shared, state, uprobe, vma, site, step);
    if (error !== null) return error;
  }
  return null;
};
