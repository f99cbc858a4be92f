import { IntervalSet } from '../base/interval-set.ts';
import type { Engine } from '../cpu/engine.ts';
import { Population } from './population.ts';
import type { AddressSpaceListener, AddressSpaceOptions, MemoryCounters } from './types.ts';
import { VmaList } from './vma-list.ts';

/** Defaults of Linux with randomisation off and an 8 MiB stack limit. */
const DEFAULTS: Required<AddressSpaceOptions> = {
  mmapBase: 0x7ffff7fff000n,
  stackLimit: 8n << 20n,
  sizeLimit: 4n << 30n,
};

/** What the parts of an address space share. */
export class MemoryState {
  readonly engine: Engine;
  readonly options: Required<AddressSpaceOptions>;
  readonly counters: MemoryCounters = { pagesPopulated: 0, pagesCopied: 0, faults: 0 };
  readonly list = new VmaList();
  readonly pages: Population;
  /** Pages of private file mappings that the kernel side wrote: anonymous copies. */
  copies = new IntervalSet();
  listener: AddressSpaceListener | null = null;
  generation = 0;
  nextAnonVma = 1;

  constructor(engine: Engine, options: AddressSpaceOptions) {
    this.engine = engine;
    this.options = { ...DEFAULTS, ...options };
    this.pages = new Population(engine, this.counters);
  }

  /** Bytes mapped in all. */
  size(): bigint {
    return this.list.size;
  }

  changed(): void {
    this.generation++;
  }
}
