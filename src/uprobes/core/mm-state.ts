import type { Mm } from '../../kernel/mm.ts';
import { offsetOfAddress } from '../../memory/vma.ts';
import type { XolArea } from '../xol/area.ts';
import type { Registry } from './registry.ts';
import type { Uprobe } from './uprobe.ts';

/** What uprobes keep about one address space. */
export class MmState {
  readonly mm: Mm;
  /** MMF_HAS_UPROBES: int3 traps in this mm are looked at. */
  hasUprobes = false;
  /** MMF_RECALC_UPROBES: the flag above may be out of date. */
  recalc = false;
  /** Text is being written (mmap_lock): a hit in between must not start another change. */
  changing = false;
  /** The `[uprobes]` page, made when first needed. */
  area: XolArea | null = null;
  /** Addresses of the nop5 trampolines, newest first. */
  trampolines: readonly bigint[] = [];
  /** Uprobes whose reference counter is not mapped yet. */
  readonly pendingCounters = new Set<Uprobe>();
  readonly #sites = new Map<bigint, Uprobe | undefined>();
  #spaceGeneration = -1;
  #registryGeneration = -1;

  constructor(mm: Mm) {
    this.mm = mm;
  }

  /** find_uprobe through the vma of `address`; remembered until mappings or uprobes change. */
  uprobeAt(address: bigint, registry: Registry): Uprobe | undefined {
    const { space } = this.mm;
    if (
      this.#spaceGeneration !== space.generation ||
      this.#registryGeneration !== registry.generation
    ) {
      this.#sites.clear();
      this.#spaceGeneration = space.generation;
      this.#registryGeneration = registry.generation;
    }
    const known = this.#sites.get(address);
    if (known !== undefined) return known;
    const vma = space.find(address);
    const uprobe =
      vma === undefined || vma.file === null
        ? undefined
        : registry.find(vma.file, offsetOfAddress(vma, address));
    if (uprobe !== undefined) this.#sites.set(address, uprobe);
    return uprobe;
  }
}
