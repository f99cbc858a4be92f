/**
 * The one record of a hit, as bytes: common fields, one address (two for returns), the arguments
 * packed, then the strings. A string's place among the arguments holds a location word (length with
 * NUL << 16 | offset from the record's start; length 0 = fault).
 *
 * One difference from the kernel on purpose: where an inner dereference fails the kernel leaves
 * whatever the page held before in an integer's place; here it reads as zero. So do the elements
 * of an array of strings after an unreadable pointer.
 */

import { textBytes } from '../../base/byte-text.ts';
import { Reg } from '../../cpu/engine.ts';
import type { AddressSpace } from '../../memory/address-space.ts';
import type { Hit } from '../../uprobes/index.ts';
import { getUnsigned, putUnsigned } from './ints.ts';
import type { Slot } from './layout.ts';
import type { Probe } from './probe.ts';

/** MAX_UCB_BUFFER_SIZE: arguments and strings of one hit. */
const BUFFER_SIZE = 4096;
/** The longest head: common fields and two addresses. */
const MAX_HEAD = 24;
/** Longest string without its NUL (MAX_STRING_SIZE is PATH_MAX); a longer one is a fault. */
const MAX_STRING = 4095;
/** Largest record the ring buffer takes; longer ones are lost (seen on 6.18.44). */
const MAX_RECORD = 4072;
/**
 * common_flags and common_preempt_count of every record of a uprobe: the kernel takes one from a
 * context of zero, so all bits are set. The flags column shows them as `DBZff`.
 */
const TRACE_CONTEXT = 0xffff;

const wrap = (address: bigint): bigint => BigInt.asUintN(64, address);

/** Follows the inner dereferences; undefined when one cannot be read. */
const follow = (
  start: bigint,
  inner: readonly bigint[],
  space: AddressSpace,
): bigint | undefined => {
  let value = start;
  for (const offset of inner) {
    const next = space.readU64(wrap(value + offset));
    if (next === undefined) return undefined;
    value = next;
  }
  return value;
};

/** What a string argument found. */
interface Strings {
  /** Null = not readable. */
  readonly texts: readonly (Uint8Array | null)[];
  /** Evaluation stopped after `texts`, at a pointer that could not be read. */
  readonly broken: boolean;
}

/** Bytes with NULs; the kernel counts nothing for an argument that breaks off. */
const sizeOf = ({ texts, broken }: Strings): number => {
  let size = 0;
  if (!broken) for (const text of texts) size += text === null ? 0 : text.length + 1;
  return size;
};

/** The name that was asked for last, as bytes: most hits are of one task. */
let lastComm = '';
let lastName: Strings = { texts: [new Uint8Array()], broken: false };

const nameOf = (comm: string): Strings => {
  if (comm === lastComm) return lastName;
  lastComm = comm;
  lastName = { texts: [textBytes(comm)], broken: false };
  return lastName;
};

const stringsOf = ({ arg, source, inner, last }: Slot, hit: Hit): Strings => {
  const { mm, comm } = hit.task;
  if (arg.base.kind === 'comm') return nameOf(comm);
  // The kernel looks for its own copy of a literal in user memory.
  if (arg.base.kind === 'text') return { texts: [null], broken: false };
  const read = (address: bigint): Uint8Array | null =>
    mm.space.readString(wrap(address), MAX_STRING) ?? null;
  const value = follow(source(hit), inner, mm.space);
  if (value === undefined) return { texts: [], broken: true };
  if (arg.count === 0) return { texts: [read(value + (last ?? 0n))], broken: false };
  // An array on an immediate: the kernel cannot go on to a second element.
  if (last === null) return { texts: [read(value)], broken: arg.count > 1 };
  const texts: (Uint8Array | null)[] = [];
  while (texts.length < arg.count) {
    const pointer = mm.space.readU64(wrap(value + last + BigInt(8 * texts.length)));
    if (pointer === undefined) return { texts, broken: true };
    texts.push(read(pointer));
  }
  return { texts, broken: false };
};

/**
 * There is one a machine (one CPU). A hit is announced with {@link begin}; the bytes are made when
 * the first user of the event asks for them with {@link build}, and shared by all others.
 */
export class EventRecord {
  readonly bytes = new Uint8Array(MAX_HEAD + BUFFER_SIZE);
  readonly view = new DataView(this.bytes.buffer);
  /** Bytes in use, common fields included. Preconditions: {@link build}. */
  size = 0;
  /** Times the arguments of a hit were evaluated. */
  builds = 0;
  /** The hit. */
  hit!: Hit;
  /** Which of its event's probes was hit. */
  probe!: Probe;
  /** What the string arguments of this hit found; kept to be used again. */
  readonly #found: Strings[] = [];
  #state: 'unbuilt' | 'built' | 'lost' = 'unbuilt';

  /** A hit of a probe, nothing of which has been evaluated. */
  begin(probe: Probe, hit: Hit): void {
    this.probe = probe;
    this.hit = hit;
    this.#state = 'unbuilt';
  }

  /** Evaluates all arguments, once a hit. Returns false where the kernel loses the record for its length. */
  build(): boolean {
    if (this.#state === 'unbuilt') this.#build();
    return this.#state === 'built';
  }

  #build(): void {
    const { probe, hit } = this;
    const { layout, event } = probe;
    const { view } = this;
    this.builds++;
    view.setUint16(0, event.id, true);
    view.setUint16(2, TRACE_CONTEXT, true);
    view.setInt32(4, hit.task.tid, true);
    view.setBigUint64(8, hit.site, true);
    if (event.kind === 'return') view.setBigUint64(16, hit.regs.read(Reg.Rip), true);
    this.size = layout.head + layout.fixedSize;
    this.bytes.fill(0, layout.head, this.size);
    for (const slot of layout.plain) this.#putPlain(slot, hit);
    if (layout.dynamic.length > 0) this.#putStrings(layout.dynamic, hit, layout.head);
    this.#state = this.size <= MAX_RECORD ? 'built' : 'lost';
  }

  #putPlain({ arg, at, source, inner, last }: Slot, hit: Hit): void {
    const { space } = hit.task.mm;
    const value = inner.length === 0 ? source(hit) : follow(source(hit), inner, space);
    if (value === undefined) return;
    const { size } = arg.type;
    const end = at + size * Math.max(arg.count, 1);
    if (last === null) putUnsigned(this.view, at, size, value);
    else if (size === 8 && arg.count === 0) this.#putWord(at, wrap(value + last), space);
    // What cannot be read stays zero, byte by byte, as copy_from_user leaves it.
    else
      for (let to = at; to < end; to += size)
        space.read(wrap(value + last + BigInt(to - at)), this.bytes.subarray(to, to + size));
    if (arg.bitField === null) return;
    const { width, offset } = arg.bitField;
    for (let to = at; to < end; to += size) {
      const container = getUnsigned(this.view, to, size);
      putUnsigned(this.view, to, size, BigInt.asUintN(width, container >> BigInt(offset)));
    }
  }

  /** The usual read makes no view of its own. */
  #putWord(at: number, address: bigint, space: AddressSpace): void {
    const word = space.readU64(address);
    if (word === undefined) space.read(address, this.bytes.subarray(at, at + 8));
    else this.view.setBigUint64(at, word, true);
  }

  /** Two passes as in the kernel: what all strings need, then where each goes. */
  #putStrings(slots: readonly Slot[], hit: Hit, head: number): void {
    const found = this.#found;
    let needed = 0;
    for (let index = 0; index < slots.length; index++) {
      const strings = stringsOf(slots[index]!, hit);
      found[index] = strings;
      needed += sizeOf(strings);
    }
    const end = Math.min(this.size + needed, head + BUFFER_SIZE);
    for (let index = 0; index < slots.length; index++) {
      const { at } = slots[index]!;
      const strings = found[index]!;
      const next = this.#placeStrings(strings, at, end);
      // Later strings overwrite those of an argument that broke off.
      if (!strings.broken) this.size = next;
    }
    this.size = end;
  }

  /** Returns where the next argument's strings go. */
  #placeStrings({ texts, broken }: Strings, at: number, end: number): number {
    let start = this.size;
    for (let index = 0; index < texts.length; index++) {
      const text = texts[index]!;
      const length = text === null ? 0 : Math.min(text.length + 1, end - start);
      this.#locate(at + 4 * index, start, length);
      if (text === null || length === 0) continue;
      this.bytes.set(length > text.length ? text : text.subarray(0, length - 1), start);
      this.bytes[start + length - 1] = 0;
      start += length;
    }
    // Where it broke off the word still says how much room there was: it prints what comes next.
    if (broken) this.#locate(at + 4 * texts.length, start, end - start);
    return start;
  }

  #locate(at: number, start: number, length: number): void {
    this.view.setUint32(at, (length << 16) | start, true);
  }
}
