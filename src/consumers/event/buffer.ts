/**
 * The one argument buffer: arguments of a hit as bytes, laid out as in the kernel's record. The
 * fixed part comes first, packed; strings follow it, and their place in the fixed part holds a
 * location word (length with NUL << 16 | offset from the record's start; length 0 = fault).
 *
 * One difference from the kernel on purpose: where an inner dereference fails the kernel leaves
 * whatever the page held before; here it reads as zero (`(fault)` for strings).
 */
import type { AddressSpace } from '../../memory/address-space.ts';
import type { Hit } from '../../uprobes/index.ts';
import { textBytes } from './byte-text.ts';
import { putUnsigned } from './ints.ts';
import type { ArgLayout, Slot, Store } from './layout.ts';

/** MAX_UCB_BUFFER_SIZE. */
const BUFFER_SIZE = 4096;
/** Longest string without its NUL (MAX_STRING_SIZE is PATH_MAX); a longer one is a fault. */
const MAX_STRING = 4095;
/** Largest record the ring buffer takes, header included; longer ones are lost (seen on 6.18.44). */
const MAX_RECORD = 4072;

const wrap = (address: bigint): bigint => BigInt.asUintN(64, address);

/** Follows the inner dereferences; undefined when one cannot be read. */
const follow = (slot: Slot, hit: Hit, space: AddressSpace): bigint | undefined => {
  let value = slot.source(hit);
  for (const offset of slot.inner) {
    const next = space.readU64(wrap(value + offset));
    if (next === undefined) return undefined;
    value = next;
  }
  return value;
};

export class ArgBuffer {
  readonly bytes = new Uint8Array(BUFFER_SIZE);
  readonly view = new DataView(this.bytes.buffer);
  /** Bytes in use. */
  size = 0;
  /** Times the buffer was built: at most once a hit, whoever reads it. */
  builds = 0;
  #head = 0;

  /** Evaluates all arguments. Returns false where the kernel loses the record for its length. */
  build(layout: ArgLayout, hit: Hit): boolean {
    this.builds++;
    this.#head = layout.head;
    this.size = layout.fixedSize;
    this.bytes.fill(0, 0, layout.fixedSize);
    for (const slot of layout.slots) {
      const value = follow(slot, hit, hit.task.mm.space);
      if (value !== undefined) STORES[slot.store](this, slot, value, hit);
    }
    return this.#head + this.size <= MAX_RECORD;
  }

  /** Bytes of the string whose location word is at `at`; null = fault. */
  stringAt(at: number): Uint8Array | null {
    const word = this.view.getUint32(at, true);
    const length = word >>> 16;
    if (length === 0) return null;
    const start = (word & 0xffff) - this.#head;
    return this.bytes.subarray(start, start + length - 1);
  }

  /** Appends a string and writes its location word at `at`. */
  putString(at: number, text: Uint8Array): void {
    const length = Math.min(text.length + 1, BUFFER_SIZE - this.size);
    if (length === 0) return;
    this.bytes.set(text.subarray(0, length - 1), this.size);
    this.bytes[this.size + length - 1] = 0;
    this.view.setUint32(at, (length << 16) | (this.#head + this.size), true);
    this.size += length;
  }
}

/** How a value or address gets into the buffer. */
type Putter = (buffer: ArgBuffer, slot: Slot, value: bigint, hit: Hit) => void;

const putValue: Putter = (buffer, { arg, at }, value) =>
  putUnsigned(buffer.view, at, arg.type.size, value);

/** What cannot be read stays zero, byte by byte, as copy_from_user leaves it. */
const putMemory: Putter = (buffer, { arg, at, last }, value, hit) => {
  const { size } = arg.type;
  const end = at + size * Math.max(arg.count, 1);
  for (let to = at; to < end; to += size)
    hit.task.mm.space.read(
      wrap(value + last + BigInt(to - at)),
      buffer.bytes.subarray(to, to + size),
    );
};

const putStringFrom = (buffer: ArgBuffer, at: number, address: bigint, hit: Hit): void => {
  const text = hit.task.mm.space.readString(wrap(address), MAX_STRING);
  if (text !== undefined) buffer.putString(at, text);
};

/** An unreadable pointer ends the array, and the kernel marks the first element as the fault. */
const putStrings: Putter = (buffer, { arg, at, last }, value, hit) => {
  for (let i = 0; i < arg.count; i++) {
    const pointer = hit.task.mm.space.readU64(wrap(value + last + BigInt(8 * i)));
    if (pointer === undefined) {
      buffer.view.setUint32(at, 0, true);
      return;
    }
    putStringFrom(buffer, at + 4 * i, pointer, hit);
  }
};

const STORES: Readonly<Record<Store, Putter>> = {
  value: putValue,
  memory: putMemory,
  string: (buffer, { at, last }, value, hit) => putStringFrom(buffer, at, value + last, hit),
  strings: putStrings,
  comm: (buffer, { at }, _value, hit) => buffer.putString(at, textBytes(hit.task.comm)),
  fault: () => {},
};
