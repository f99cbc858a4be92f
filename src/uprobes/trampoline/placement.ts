/** Finds or makes the trampoline page for a site (spec section 5.2). */
import { greatest, least, PAGE_MASK, PAGE_SIZE, pageUp } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import { type AddressSpace, TASK_SIZE } from '../../memory/address-space.ts';
import type { MmState } from '../core/mm-state.ts';
import type { Shared } from '../core/shared.ts';

/** A call reaches [-2^31, 2^31 - 1] from its end. */
export const REACH = 1n << 31n;

const isReachable = (callEnd: bigint, trampoline: bigint, reach: bigint): boolean => {
  const distance = trampoline - callEnd;
  return distance >= -reach && distance < reach;
};

/** Trampolines that an mm has, in the order they are tried. */
const existing = (shared: Shared, state: MmState): readonly bigint[] =>
  shared.profile.optimise === 'nop5'
    ? state.trampolines
    : state.mm.space
        .vmas()
        .filter((vma) => vma.special === shared.trampolineMapping)
        .map((vma) => vma.start);

/**
 * The search asks for a page of any alignment and aligns what it finds, so a hole of one page is too
 * small for it.
 */
const ASKED_FOR = PAGE_SIZE + PAGE_MASK;

/** The free page nearest to the end of the call; the upper one when both are as near. */
const nearestFree = (space: AddressSpace, callEnd: bigint, reach: bigint): bigint | undefined => {
  const top = least(callEnd + reach - 1n, TASK_SIZE);
  const above = space.findFreeAbove(ASKED_FOR, pageUp(callEnd), top);
  const hole = space.findFreeBelow(ASKED_FOR, greatest(callEnd - reach, PAGE_SIZE), callEnd);
  const below = hole === undefined ? undefined : pageUp(hole);
  if (above === undefined || below === undefined) return above ?? below;
  return callEnd - below < above - callEnd ? below : above;
};

export interface Trampoline {
  readonly address: bigint;
  /** Made for this attempt: unmapped again if the attempt fails, where the profile does that. */
  readonly fresh: boolean;
}

/** Null when there is no page within reach. */
export const trampolineFor = (
  shared: Shared,
  state: MmState,
  site: bigint,
  callEnd: bigint,
): Trampoline | null => {
  if (site < PAGE_SIZE || site > TASK_SIZE) return null;
  const { reach } = shared.rules;
  const reusable = existing(shared, state).find((address) => isReachable(callEnd, address, reach));
  if (reusable !== undefined) return { address: reusable, fresh: false };
  const { space } = state.mm;
  const place = nearestFree(space, callEnd, reach);
  if (place === undefined) return null;
  const address = space.map({
    address: place,
    placement: 'only',
    size: PAGE_SIZE,
    prot: Prot.Read | Prot.Exec,
    special: shared.trampolineMapping,
  });
  if (typeof address === 'string') return null;
  space.engine.poke(address, shared.rules.optimisedTrampoline(shared.profile));
  shared.counters.trampolines++;
  if (shared.profile.optimise === 'nop5') state.trampolines = [address, ...state.trampolines];
  return { address, fresh: true };
};

/** A nop10 kernel gives a page back that no site came to use. */
export const giveBack = (shared: Shared, state: MmState, { address, fresh }: Trampoline): void => {
  if (!fresh || shared.profile.optimise !== 'nop10') return;
  state.mm.space.unmap(address, PAGE_SIZE);
};
