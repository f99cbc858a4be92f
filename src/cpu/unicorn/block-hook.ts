/** What happens before each block: counting, the budget, and what Unicorn itself would not check. */
import { Prot, type TrapKind } from '../engine.ts';
import type { UnicornCpu } from './binding.ts';
import type { BlockTable } from './block-table.ts';
import { type Block, type Blocks, JUMP_SIZE } from './blocks.ts';
import type { Guard, Quirks } from './inspect.ts';
import { type GuestMemory, PAGE, USER_END } from './memory.ts';
import type { UnicornRegisters } from './registers.ts';
import type { CpuState } from './state.ts';
import { effectiveAddress, mnemonicAt } from './traps.ts';

/** `jmp $`: ends a translation, and goes on at the instruction it hides. */
const JUMP = Uint8Array.of(0xeb, 0xfe);
const INT3 = Uint8Array.of(0xcc);
/** Further from any address than the widest fetch. */
const NOT_FETCHING = -16;
const NO_BLOCK = -1;
const WIDEST_FETCH = 8;
/** More than halving the longest block takes. */
const ATTEMPTS = 8;
/** Far away, yet with room for exact sums. */
export const NO_LIMIT = 2 ** 52;

/** Code that we have changed for the moment of a translation. */
interface Planted {
  readonly address: number;
  readonly bytes: Uint8Array;
  /** An int3 of ours: what to do once it has trapped. Null: a jump. */
  readonly then: (() => void) | null;
}

/** The engine's side: deliver a trap at the block's first instruction. */
export interface BlockTraps {
  /** @param missing `page-fault`: the address that is not there */
  atBlock(kind: TrapKind, address: number, text: string, missing: number): void;
  /** Single-step from the instruction at `from` until RIP is at `until` or elsewhere. */
  walk(from: number, until: number): void;
  /** The program's step over the instruction before `rip` is over. */
  stepped(rip: number): void;
}

/** What a block is looked at with. */
export interface BlockParts {
  readonly cpu: UnicornCpu;
  readonly state: CpuState;
  readonly memory: GuestMemory;
  readonly blocks: Blocks;
  readonly table: BlockTable;
  readonly regs: UnicornRegisters;
  readonly quirks: Quirks;
}

export class BlockHook {
  private readonly cpu: UnicornCpu;
  private readonly state: CpuState;
  private readonly memory: GuestMemory;
  private readonly blocks: Blocks;
  private readonly table: BlockTable;
  private readonly regs: UnicornRegisters;
  private readonly quirks: Quirks;
  private readonly traps: BlockTraps;
  private planted: Planted | null = null;
  /** The byte that would go on with the translation in hand. */
  private fetched = NOT_FETCHING;
  /** What was left of the budget at that fetch: less now, and blocks have run since. */
  private leftAtFetch = NO_LIMIT;
  /** The next translation may have no hook. */
  private hookless = false;
  /** How often the same block has been divided in a row. */
  private attempts = 0;
  private attempted = NO_BLOCK;
  private before = 0;
  private granted = NO_LIMIT;

  constructor(parts: BlockParts, traps: BlockTraps) {
    this.cpu = parts.cpu;
    this.state = parts.state;
    this.memory = parts.memory;
    this.blocks = parts.blocks;
    this.table = parts.table;
    this.table.left = NO_LIMIT;
    this.regs = parts.regs;
    this.quirks = parts.quirks;
    this.traps = traps;
  }

  /** Instructions executed so far. */
  get count(): number {
    return this.before + (this.granted - this.table.left);
  }

  set count(value: number) {
    this.before = value;
    this.granted = this.table.left;
  }

  /** From now on a budget trap comes after this many. */
  grant(instructions: number): void {
    this.before = this.count;
    this.granted = instructions;
    this.table.left = instructions;
  }

  /** A run begins. */
  begin(): void {
    this.table.attentive = true;
  }

  /** Where a translation begins, the block is planned before Unicorn sees more than its first byte. */
  fetch(address: number, size: number): void {
    // A load that crosses a page is made as two aligned ones, which begin before it and end behind it.
    // A block that was passed by machine code is seen in the budget only.
    const { left } = this.table;
    const begins = left !== this.leftAtFetch || Math.abs(address - this.fetched) >= WIDEST_FETCH;
    this.fetched = address + size;
    this.leftAtFetch = left;
    if (!begins || this.planted !== null || this.memory.protAt(address) === undefined) return;
    const { refusal, split } = this.blocks.at(address).plan;
    if (refusal === null && split === 0) return;
    const at = address + split;
    if (this.memory.protAt(at + 1) !== undefined) this.put(at, JUMP, null);
  }

  enter(address: number, size: number): void {
    this.fetched = NOT_FETCHING;
    if (!this.table.passPlain(address, size)) this.look(address, size);
  }

  /** The last block was left by a fault at `rip`, before all of it had run. */
  leftAt(rip: bigint): void {
    const { table } = this;
    const block = this.blocks.peek(table.lastAddress);
    if (this.quirks.faultsDamage && block !== undefined && table.lastCount > 0) {
      this.cpu.forgetCode(block.address, block.span);
      // It has been translated whole to find RIP, and so perhaps been cut short.
      this.hookless = block.plan.split > 0;
    }
    const ends = block?.plan.ends;
    const offset = Number(rip) - table.lastAddress;
    const executed = offset === 0 ? 0 : (ends?.indexOf(offset) ?? -1) + 1;
    if (offset === 0 || executed > 0) table.left += Math.max(0, table.lastCount - executed);
    table.lastCount = 0;
  }

  /** Puts back what was planted; the translation keeps it. True: the int3 at RIP was ours. */
  uproot(): boolean {
    this.fetched = NOT_FETCHING;
    const { planted } = this;
    if (planted === null) return false;
    this.memory.write(planted.address, planted.bytes);
    this.planted = null;
    const { then } = planted;
    if (then === null || this.state.rip !== BigInt(planted.address + 1)) return false;
    this.state.rip = BigInt(planted.address);
    this.cpu.forgetCode(planted.address, planted.bytes.length);
    then();
    return true;
  }

  /** The program is about to go on at RIP. */
  resume(): void {
    if (!this.hookless || this.planted !== null) return;
    const { rip } = this.state;
    if (rip >= BigInt(USER_END) || this.memory.protAt(Number(rip)) === undefined) return;
    this.plant(Number(rip), INT3, () => {
      this.hookless = false;
    });
  }

  private passed(address: number, count: number): void {
    this.table.pass(address, count);
    this.attempted = NO_BLOCK;
  }

  private look(address: number, size: number): void {
    // An int3 of ours is about to trap.
    if (this.planted?.address === address && this.planted.then !== null) return;
    this.table.attentive = false;
    this.uproot();
    // The JavaScript build begins each run as if it were to leave its first block.
    this.state.stayInBlock();
    // Before anything can stop the run: what is translated must be known, or a poke would not forget it.
    const block = this.blocks.at(address);
    if (this.table.left <= 0) {
      this.traps.atBlock('budget', address, '', 0);
      return;
    }
    const { refusal } = block.plan;
    if (refusal !== null) {
      this.traps.atBlock(refusal.kind, address, refusal.text, this.firstBarred(address));
      return;
    }
    const count = instructionsIn(block, size);
    const forgets = this.forgetsTrap(block, count);
    if (forgets && this.state.trapFlag) {
      this.passed(address, 1);
      this.traps.stepped(address + block.plan.ends[0]!);
    } else if (size === 0 && this.rewritesItself(block)) this.stepOver(block);
    else if (count === 0) this.divideOrStep(block, size);
    else if (this.guardsHold(block, count)) {
      this.passed(address, count);
      if (block.plan.guards.length === 0 && block.code === null && !forgets)
        this.table.add(address, size, count);
    }
  }

  /** `pause`, always the last of its translation, leaves Unicorn's loop without the trap of TF. */
  private forgetsTrap({ address, plan }: Block, count: number): boolean {
    return (
      count <= 1 && plan.guards.length === 0 && mnemonicAt(this.memory, BigInt(address)) === 'pause'
    );
  }

  /**
   * After a store into the block that makes it, Unicorn 1.0 runs the storing instruction alone, and looks like a
   * block that it has cut short.
   */
  private rewritesItself({ address, code }: Block): boolean {
    const last = this.blocks.peek(this.table.lastAddress);
    const within = last !== undefined && address < last.address + last.span;
    return code !== null && within && address >= last.address;
  }

  /** Runs one instruction as a step, so that the next block gets its hook. */
  private stepOver({ address, plan }: Block): void {
    this.plant(address, INT3, () => this.traps.walk(address, address + plan.ends[0]!));
    this.state.leaveBlock();
  }

  /** A plan that ends where a translation can be made to end. */
  private shortened(block: Block, size: number): Block {
    const { ends, split } = block.plan;
    // A split that has held before holds again: a neighbour that overlaps only took the translation away.
    if (split > 0 && (size !== 0 || this.attempts === 0)) return block;
    const at = size === 0 ? Math.max(1, ends.length >> 1) : ends.length;
    return this.blocks.replan(block, ends[at - 1]!);
  }

  /** Where Unicorn sees other instructions than we do, dividing never succeeds. */
  private divideOrStep(block: Block, size: number): void {
    this.attempts = block.address === this.attempted ? this.attempts + 1 : 0;
    this.attempted = block.address;
    // Under TF a translation is one instruction already.
    if (this.state.trapFlag) this.passed(block.address, 1);
    else if (this.attempts < ATTEMPTS) this.divide(this.shortened(block, size), size);
    else this.stepOver(block);
  }

  /** Has the block translated anew, before its first instruction runs. */
  private divide(block: Block, size: number): void {
    // After a block that it has cut short Unicorn gives the next translation no hook: make that an int3.
    if (size === 0) this.plant(block.address, INT3, () => this.split(block));
    else this.split(block);
    this.state.leaveBlock();
  }

  /** Changes code, and has it translated anew. */
  private plant(address: number, code: Uint8Array, then: (() => void) | null): void {
    this.put(address, code, then);
    this.cpu.forgetCode(address, code.length);
  }

  private put(address: number, code: Uint8Array, then: (() => void) | null): void {
    const bytes = new Uint8Array(code.length);
    this.memory.read(address, bytes);
    this.planted = { address, bytes, then };
    this.table.attentive = true;
    this.memory.write(address, code);
  }

  /** Lets the next translation of the block end at its split. */
  private split(block: Block): void {
    const at = block.address + block.plan.split;
    if (this.memory.protAt(at + 1) === undefined) this.traps.walk(block.address, at);
    else this.plant(at, JUMP, null);
    this.cpu.forgetCode(block.address, block.plan.split);
  }

  /** Looks at the guarded accesses; false when one of them has changed where control goes. */
  private guardsHold(block: Block, count: number): boolean {
    for (const guard of block.plan.guards) {
      if (guard.instruction >= count) break;
      const missing = this.violation(guard);
      if (missing === null) continue;
      if (guard.instruction > 0)
        this.divide(this.blocks.replan(block, block.plan.ends[guard.instruction - 1]!), 1);
      else if (guard.rule === 'aligned')
        this.traps.atBlock('general-protection', block.address, '', 0);
      else
        this.traps.atBlock(
          'page-fault',
          block.address,
          guard.use.writes ? 'write' : 'read',
          missing,
        );
      return false;
    }
    return true;
  }

  /** Null, or the address that an access would miss (0 for a misaligned one). */
  private violation({ rule, use }: Guard): number | null {
    if (rule === 'aligned') return this.lowAddress(use) % 16 === 0 ? null : 0;
    const crosses = (this.lowAddress(use) % PAGE) + use.size > PAGE;
    if (rule === 'whole' && !crosses) return null;
    const address = effectiveAddress(use, this.regs);
    // Not in a user's half: the CPU finds that out before anything else.
    if (address + BigInt(use.size) > BigInt(USER_END)) return null;
    const first = Number(address);
    const second = first - (first % PAGE) + PAGE;
    const right = use.writes ? Prot.Write : Prot.Read;
    if (!this.allows(first, right)) return rule === 'whole' ? null : first;
    return crosses && !this.allows(second, right) ? second : null;
  }

  private allows(address: number, right: number): boolean {
    return ((this.memory.protAt(address) ?? 0) & right) !== 0;
  }

  /** The low 12 bits of an operand's address. */
  private lowAddress({ base, index, scale, displacement, segment }: Guard['use']): number {
    const words = this.state.words();
    const low = this.state.lowGeneral;
    let address = Number(displacement & 0xfffn);
    if (base !== null) address += words[low + 2 * base]!;
    if (index !== null) address += (words[low + 2 * index]! & 0xfff) * scale;
    if (segment === 'fs' || segment === 'gs')
      address += Number(effectiveAddress({ ...NO_OPERAND, segment }, this.regs) & 0xfffn);
    return address & 0xfff;
  }

  /** The first address from here on that cannot be executed. */
  private firstBarred(address: number): number {
    if (((this.memory.protAt(address) ?? 0) & Prot.Exec) === 0) return address;
    return address - (address % PAGE) + PAGE;
  }
}

const NO_OPERAND = {
  base: null,
  index: null,
  scale: 1,
  displacement: 0n,
  size: 0,
  reads: false,
  writes: false,
} as const;

/**
 * How many instructions of the block a translation of `size` bytes holds; 0: it goes beyond the plan. A size
 * between two instructions means that Unicorn takes bytes for invalid that are not.
 */
const instructionsIn = ({ plan: { ends, split } }: Block, size: number): number => {
  if (split > 0 && size === split + JUMP_SIZE) return ends.length;
  if (size === 0) return split === 0 && ends.length === 1 ? 1 : 0;
  if (size > ends.at(-1)!) return 0;
  return ends.findIndex((end) => end >= size) + 1;
};
