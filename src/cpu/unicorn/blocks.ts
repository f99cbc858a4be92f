/** The blocks seen so far, with their plans. */
import { Prot } from '../engine.ts';
import type { BlockTable } from './block-table.ts';
import { type BlockPlan, planBlock, type Quirks } from './inspect.ts';
import { type GuestMemory, PAGE } from './memory.ts';

/** 48 instructions of 15 bytes. */
const LONGEST = 720;
/** The jump to itself that ends a block early while it is translated. */
export const JUMP_SIZE = 2;

export interface Block {
  readonly address: number;
  readonly plan: BlockPlan;
  /** The code it was planned from, when the program itself can change it. */
  readonly code: Uint8Array | null;
  readonly span: number;
}

const equal = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

export class Blocks {
  private readonly memory: GuestMemory;
  private readonly quirks: Quirks;
  private readonly known = new Map<number, Block>();
  private readonly byPage = new Map<number, Set<Block>>();
  /** The plain ones among them. */
  private readonly table: BlockTable;
  private readonly scratch = new Uint8Array(LONGEST);

  constructor(memory: GuestMemory, quirks: Quirks, table: BlockTable) {
    this.memory = memory;
    this.quirks = quirks;
    this.table = table;
  }

  /** The block at `address`, planned anew when its code has changed. */
  at(address: number): Block {
    const known = this.known.get(address);
    if (known !== undefined && (known.code === null || this.unchanged(known))) return known;
    if (known !== undefined) this.drop(known);
    return this.plan(address);
  }

  /** What is known of the block at `address`; never plans. */
  peek(address: number): Block | undefined {
    return this.known.get(address);
  }

  /** Ends the block at `split`; it is translated anew then. */
  replan(block: Block, split: number): Block {
    const { plan } = block;
    const count = plan.ends.indexOf(split) + 1;
    const shorter: Block = {
      ...block,
      plan: {
        ends: plan.ends.slice(0, count),
        guards: plan.guards.filter(({ instruction }) => instruction < count),
        refusal: plan.refusal,
        split,
      },
    };
    this.drop(block);
    this.add(shorter);
    return shorter;
  }

  /**
   * Forgets blocks that overlap the range.
   * @returns what to have Unicorn forget too, all of these blocks; null: there were none. It begins with a block:
   * the native library does nothing when the first page of a range is not there.
   */
  forget(start: number, size: number): { readonly start: number; readonly end: number } | null {
    let from = Number.POSITIVE_INFINITY;
    let to = 0;
    const last = Math.floor((start + size - 1) / PAGE);
    for (let page = Math.floor(start / PAGE); page <= last; page++)
      for (const block of this.byPage.get(page) ?? []) {
        const end = block.address + block.span;
        if (block.address >= start + size || end <= start) continue;
        this.drop(block);
        from = Math.min(from, block.address);
        to = Math.max(to, end);
      }
    return to === 0 ? null : { start: from, end: to };
  }

  private plan(address: number): Block {
    const code = this.executable(address);
    const plan = planBlock(code, BigInt(address), this.quirks);
    const span = (plan.ends.at(-1) ?? 1) + JUMP_SIZE;
    const volatile = this.writable(address) || this.writable(address + span - 1);
    const block = { address, plan, code: volatile ? code.slice(0, span) : null, span };
    this.add(block);
    return block;
  }

  private writable(address: number): boolean {
    return ((this.memory.protAt(address) ?? 0) & Prot.Write) !== 0;
  }

  private unchanged(block: Block): boolean {
    const code = this.executable(block.address, block.code!.length);
    return equal(code, block.code!);
  }

  /** The bytes from `address` on, up to the first page that may not be executed. */
  private executable(address: number, size = LONGEST): Uint8Array {
    let length = 0;
    while (length < size) {
      if (((this.memory.protAt(address + length) ?? 0) & Prot.Exec) === 0) break;
      length = Math.min(size, length + PAGE - ((address + length) % PAGE));
    }
    const bytes = this.scratch.subarray(0, length);
    this.memory.read(address, bytes);
    return bytes;
  }

  private add(block: Block): void {
    this.known.set(block.address, block);
    const last = Math.floor((block.address + block.span - 1) / PAGE);
    for (let page = Math.floor(block.address / PAGE); page <= last; page++) {
      const blocks = this.byPage.get(page) ?? new Set();
      blocks.add(block);
      this.byPage.set(page, blocks);
    }
  }

  private drop(block: Block): void {
    this.known.delete(block.address);
    this.table.remove(block.address);
    const last = Math.floor((block.address + block.span - 1) / PAGE);
    for (let page = Math.floor(block.address / PAGE); page <= last; page++)
      this.byPage.get(page)?.delete(block);
  }
}
