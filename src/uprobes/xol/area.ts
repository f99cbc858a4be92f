/** The `[uprobes]` page: slot 0 is the return trampoline, the others hold stepped instructions. */
import { PAGE_SIZE } from '../../base/bytes.ts';
import { Prot } from '../../cpu/engine.ts';
import { type AddressSpace, TASK_SIZE } from '../../memory/address-space.ts';
import type { SpecialMapping } from '../../memory/backing.ts';
import type { MmState } from '../core/mm-state.ts';
import type { Shared } from '../core/shared.ts';

export const SLOT_SIZE = 128;
export const SLOTS = 32;

/** Not inherited by fork; the child makes its own. */
const AREA_MAPPING: SpecialMapping = { name: '[uprobes]', copiedOnFork: false };

/** Slot 0 is never handed out. */
const FIRST_SLOT = 1;

export class XolArea {
  readonly address: bigint;
  readonly #space: AddressSpace;
  /** What each slot holds; the page is the kernel's, so it stays there. */
  readonly #contents: (Uint8Array | null)[] = Array.from({ length: SLOTS }, () => null);
  #taken = 1;
  #generation = -1;
  #mapped = false;

  constructor(space: AddressSpace, address: bigint) {
    this.#space = space;
    this.address = address;
  }

  slotAddress(slot: number): bigint {
    return this.address + BigInt(slot * SLOT_SIZE);
  }

  /** Takes the lowest free slot and puts the instruction there; null when all are in use. */
  take(instruction: Uint8Array): number | null {
    for (let slot = FIRST_SLOT; slot < SLOTS; slot++) {
      if (this.#taken & (1 << slot)) continue;
      this.#taken |= 1 << slot;
      if (this.#contents[slot] !== instruction) this.#fill(slot, instruction);
      return slot;
    }
    return null;
  }

  free(slot: number): void {
    this.#taken &= ~(1 << slot);
  }

  capture(): () => void {
    const taken = this.#taken;
    const contents = [...this.#contents];
    return () => {
      this.#taken = taken;
      contents.forEach((content, slot) => {
        this.#contents[slot] = content;
      });
    };
  }

  #fill(slot: number, instruction: Uint8Array): void {
    // The program may have unmapped the page; then the step faults where the slot would be.
    if (!this.#isMapped()) return;
    this.#contents[slot] = instruction;
    this.#space.engine.poke(this.slotAddress(slot), instruction);
  }

  #isMapped(): boolean {
    if (this.#generation !== this.#space.generation) {
      this.#generation = this.#space.generation;
      this.#mapped = this.#space.find(this.address)?.special === AREA_MAPPING;
    }
    return this.#mapped;
  }
}

/** The area of an mm, made at the first step or return probe; null when no page is free. */
export const areaOf = (shared: Shared, state: MmState): XolArea | null => {
  state.area ??= makeArea(shared, state);
  return state.area;
};

/** xol_add_vma: the last page of user space, or wherever the kernel's search finds one. */
const makeArea = (shared: Shared, { mm }: MmState): XolArea | null => {
  const { space } = mm;
  const address = space.map({
    address: TASK_SIZE - PAGE_SIZE,
    size: PAGE_SIZE,
    prot: Prot.Exec,
    special: AREA_MAPPING,
  });
  if (typeof address === 'string') return null;
  space.engine.poke(address, shared.rules.returnTrampoline(shared.profile));
  shared.counters.areas++;
  return new XolArea(space, address);
};
