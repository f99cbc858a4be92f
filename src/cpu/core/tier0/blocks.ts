import { MAX_INSN_SIZE } from '../../../x86/insn.ts';
import { OperandDecoder } from '../../../x86/operands.ts';
import { Prot } from '../../engine.ts';
import { FRAME, JUMPS, RECORD } from '../layout.ts';
import type { CodeWatcher, GuestMemory } from '../memory/guest-memory.ts';
import { Arena } from './arena.ts';
import { Handler, type Tier0Code } from './module.ts';
import { RecordWriter } from './records.ts';

/** Instructions in a block at most; a budget may be overrun by one less. */
const LONGEST = 32;
const WINDOW = 256;

/** Straight code that has been decoded. */
interface Block {
  readonly ip: number;
  readonly record: number;
  readonly count: number;
  /** First byte behind what decoding looked at. */
  readonly end: number;
}

/** A direct jump whose target's record is not known yet. */
interface PendingLink {
  readonly record: number;
  readonly target: number;
}

const pageOf = (address: number): number => Math.floor(address / FRAME);

/** Decoded code: blocks by address, and which pages they came from. */
export class Blocks implements CodeWatcher {
  readonly #memory: GuestMemory;
  readonly #arena: Arena;
  readonly #writer: RecordWriter;
  readonly #decoder = new OperandDecoder();
  readonly #blocks = new Map<number, Block>();
  /** Blocks of one instruction, for single steps. */
  readonly #steps = new Map<number, Block>();
  readonly #pages = new Map<number, Set<Block>>();
  readonly #window = new Uint8Array(WINDOW);

  constructor(memory: (watcher: CodeWatcher) => GuestMemory, code: Tier0Code) {
    this.#memory = memory(this);
    this.#arena = new Arena(this.#memory.frames);
    this.#writer = new RecordWriter(this.#memory.frames, code.handlers);
    this.#forgetJumps();
  }

  get memory(): GuestMemory {
    return this.#memory;
  }

  /**
   * The record at an address; 0 = it cannot be fetched, and the memory's `fault` says why.
   * @param single a block of one instruction that ends the run
   */
  find(ip: number, single: boolean): number {
    const known = (single ? this.#steps : this.#blocks).get(ip);
    if (known !== undefined) return known.record;
    const block = this.#decode(ip, single ? 1 : LONGEST);
    if (block === undefined) return 0;
    (single ? this.#steps : this.#blocks).set(ip, block);
    this.#register(block);
    return block.record;
  }

  /** Makes a record that had to be resolved lead to its target from now on. */
  link(record: number, target: number): void {
    const { view } = this.#memory.frames;
    view.setInt32(record + RECORD.link, target, true);
    view.setInt32(record + RECORD.handler, Handler.Bridge, true);
    const owner = view.getInt32(record + RECORD.immediate, true);
    if (owner !== 0 && view.getInt32(owner + RECORD.link, true) === record)
      view.setInt32(owner + RECORD.link, target, true);
  }

  /** Lets indirect jumps to `ip` find their record themselves. */
  rememberJump(ip: number, record: number): void {
    const { words } = this.#memory.frames;
    const hash = (ip ^ Math.floor(ip / 4096)) & (JUMPS.entries - 1);
    const at = (JUMPS.at + 16 * hash) >> 2;
    words[at] = ip | 0;
    words[at + 1] = Math.floor(ip / 2 ** 32);
    words[at + 2] = record;
  }

  #forgetJumps(): void {
    const { words } = this.#memory.frames;
    // An address of another entry: no jump that looks here can have it.
    words.fill(0, JUMPS.at >> 2, (JUMPS.at + 16 * JUMPS.entries) >> 2);
    words[JUMPS.at >> 2] = 1;
  }

  /** The instruction at an address, as text. */
  textAt(ip: number): string {
    this.#decoder.open(this.#window.subarray(0, this.#fetch(ip, MAX_INSN_SIZE)), BigInt(ip));
    this.#decoder.next();
    return this.#decoder.text();
  }

  /** Drops everything when the arena is full. Preconditions: no handler is running. */
  trim(): void {
    if (!this.#arena.full) return;
    this.#blocks.clear();
    this.#steps.clear();
    this.#pages.clear();
    this.#arena.reset();
    this.#forgetJumps();
  }

  hasCode(page: number): boolean {
    return this.#pages.has(page);
  }

  changed(start: number, end: number): void {
    if (this.#pages.size === 0) return;
    const first = pageOf(start);
    const last = pageOf(end - 1);
    if (last - first < this.#pages.size) {
      for (let page = first; page <= last; page++) this.#changedIn(page, start, end);
      return;
    }
    for (const page of [...this.#pages.keys()])
      if (page >= first && page <= last) this.#changedIn(page, start, end);
  }

  #changedIn(page: number, start: number, end: number): void {
    const blocks = this.#pages.get(page);
    if (blocks === undefined) return;
    for (const block of [...blocks]) if (block.ip < end && start < block.end) this.#drop(block);
  }

  /** Every instruction of a dropped block asks to be decoded again, should it still be reached. */
  #drop(block: Block): void {
    const { view } = this.#memory.frames;
    for (let i = 0; i < block.count; i++) {
      const record = block.record + i * RECORD.size;
      view.setInt32(record + RECORD.handler, Handler.Resolve, true);
      view.setInt32(record + RECORD.immediate, 0, true);
    }
    if (this.#blocks.get(block.ip) === block) this.#blocks.delete(block.ip);
    if (this.#steps.get(block.ip) === block) this.#steps.delete(block.ip);
    for (let page = pageOf(block.ip); page <= pageOf(block.end - 1); page++) {
      const blocks = this.#pages.get(page);
      blocks?.delete(block);
      if (blocks?.size === 0) this.#pages.delete(page);
    }
  }

  #register(block: Block): void {
    for (let page = pageOf(block.ip); page <= pageOf(block.end - 1); page++) {
      let blocks = this.#pages.get(page);
      if (blocks === undefined) {
        blocks = new Set();
        this.#pages.set(page, blocks);
        this.#memory.watch(page);
      }
      blocks.add(block);
    }
  }

  /** Copies what can be executed from `ip` on into the window; the number of bytes. */
  #fetch(ip: number, most: number): number {
    let count = 0;
    while (count < most) {
      const at = ip + count;
      const prot = this.#memory.protOf(pageOf(at));
      if (prot === undefined || (prot & Prot.Exec) === 0) break;
      const piece = Math.min(most - count, FRAME - (at % FRAME));
      this.#memory.peek(at, this.#window.subarray(count, count + piece));
      count += piece;
    }
    return count;
  }

  #decode(ip: number, most: number): Block | undefined {
    const single = most === 1;
    const available = this.#fetch(ip, single ? MAX_INSN_SIZE : WINDOW);
    const decoder = this.#decoder;
    decoder.open(this.#window.subarray(0, available), BigInt(ip));
    const record = this.#arena.reserve(2 * most + 1);
    const links: PendingLink[] = [];
    let count = 0;
    let length = 0;
    let end = ip;
    let open = true;
    while (open && count < most && decoder.next()) {
      // Short of bytes: either the next page is missing, or another block can begin here.
      if (decoder.truncated && available - length < MAX_INSN_SIZE) break;
      const at = record + count * RECORD.size;
      this.#writer.instruction(at, decoder, { ip: ip + length, place: count });
      // Bytes that are no instruction may become one through any of those looked at.
      end = ip + length + (decoder.invalid ? MAX_INSN_SIZE : decoder.length);
      if (!decoder.invalid && isDirect(decoder))
        links.push({ record: at, target: Number(BigInt.asUintN(64, decoder.target)) });
      open = !decoder.invalid && decoder.flow !== 'leaves';
      length += decoder.length;
      count++;
    }
    if (count === 0) return this.#cannotFetch(ip + available);
    this.#close(record, { ip: ip + length, place: count }, single, links);
    return { ip, record, count, end };
  }

  /** What follows the instructions: the way on, then a way for each jump. */
  #close(
    record: number,
    next: { readonly ip: number; readonly place: number },
    single: boolean,
    links: readonly PendingLink[],
  ): void {
    const { view } = this.#memory.frames;
    let at = record + next.place * RECORD.size;
    this.#writer.plain(at, single ? Handler.StepEnd : Handler.Resolve, next);
    for (const { record: owner, target } of links) {
      at += RECORD.size;
      this.#writer.plain(at, Handler.Resolve, { ip: target, place: 0 });
      view.setInt32(at + RECORD.immediate, owner, true);
      view.setInt32(owner + RECORD.link, at, true);
    }
    this.#arena.use(at + RECORD.size);
  }

  #cannotFetch(address: number): undefined {
    const { fault } = this.#memory;
    fault.kind = 'page-fault';
    fault.access = 'exec';
    fault.address = BigInt(address);
    fault.mapped = this.#memory.protOf(pageOf(address)) !== undefined;
    return undefined;
  }
}

const isDirect = ({ flow, facts, registers, hasMemory }: OperandDecoder): boolean =>
  flow === 'conditional' ||
  ((facts.mnemonic === 'jmp' || facts.mnemonic === 'call') && registers.length === 0 && !hasMemory);
