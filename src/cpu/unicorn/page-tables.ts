/**
 * The x86 page tables of the guest. Unicorn takes the address of a page from nobody but itself (physical
 * = virtual), but presence and rights from here, and reports a miss as the CPU would: before anything is
 * changed, with exact RIP and flags, for integer, x87 and SSE accesses alike. Its own regions cannot do that.
 */
import { view } from '../../base/bytes.ts';
import { TraplineError } from '../../base/errors.ts';
import type { HostBlock, UnicornCpu } from './binding.ts';

/** Bits of a page table entry (SDM vol. 3, table 5-20). */
export const Pte = { present: 1, write: 2, user: 4, accessed: 0x20, dirty: 0x40 } as const;

const TABLE = 4096;
const LEAF_SPAN = 0x20_0000;
/** Physical addresses of tables: below 2^40, as QEMU wants, in 16 MiB that no program uses. */
export const TABLES_START = 0xff_ff00_0000;
const TABLES_END = 0x100_0000_0000;
const POINTER = Pte.present | Pte.write | Pte.user | Pte.accessed;

interface Table {
  readonly block: HostBlock;
  readonly offset: number;
  readonly physical: number;
}

export class PageTables {
  private readonly cpu: UnicornCpu;
  private block: HostBlock;
  private blockPhysical = TABLES_START;
  private used = 0;
  private readonly root: Table;
  /** Last-level tables by address / 2 MiB. */
  private readonly leaves = new Map<number, Table>();

  constructor(cpu: UnicornCpu) {
    this.cpu = cpu;
    this.block = this.newBlock();
    this.root = this.newTable();
  }

  /** The value of CR3. */
  get physical(): bigint {
    return BigInt(this.root.physical);
  }

  /** The flags of the entry for the page at `address`. */
  get(address: number): number {
    const leaf = this.leaves.get(Math.floor(address / LEAF_SPAN));
    return leaf === undefined ? 0 : leaf.block.view()[entryOffset(leaf, address)]!;
  }

  /** Sets the flags of the entry; only the low byte of an entry is ever used. */
  set(address: number, flags: number): void {
    const index = Math.floor(address / LEAF_SPAN);
    let leaf = this.leaves.get(index);
    if (leaf === undefined) {
      leaf = this.makeLeaf(address);
      this.leaves.set(index, leaf);
    }
    leaf.block.view()[entryOffset(leaf, address)] = flags;
  }

  private makeLeaf(address: number): Table {
    let table = this.root;
    for (const span of [2 ** 39, 2 ** 30, 2 ** 21]) {
      const at = table.offset + 8 * (Math.floor(address / span) % 512);
      const entry = view(table.block.view()).getBigUint64(at, true);
      if (entry !== 0n) table = this.tableAt(Number(entry & ~0xfffn));
      else {
        const below = this.newTable();
        view(table.block.view()).setBigUint64(at, BigInt(below.physical + POINTER), true);
        table = below;
      }
    }
    return table;
  }

  private readonly tables = new Map<number, Table>();

  private tableAt(physical: number): Table {
    return this.tables.get(physical)!;
  }

  private newTable(): Table {
    if (this.used === this.block.size) {
      this.blockPhysical += this.block.size;
      this.block = this.newBlock();
      this.used = 0;
    }
    const offset = this.used;
    this.used += TABLE;
    const table = { block: this.block, offset, physical: this.blockPhysical + offset };
    this.tables.set(table.physical, table);
    return table;
  }

  private newBlock(): HostBlock {
    if (this.blockPhysical >= TABLES_END)
      throw new TraplineError('engine-limit', 'the program maps more memory than page tables hold');
    const block = this.cpu.allocate(this.cpu.windowSize);
    block.view().fill(0);
    this.cpu.map(this.blockPhysical, 3, block);
    return block;
  }
}

const entryOffset = (leaf: Table, address: number): number =>
  leaf.offset + 8 * (Math.floor(address / 4096) % 512);
