/**
 * Plain blocks, and the count of what has run, in memory that machine code can use too: the native library calls
 * its block hook before every execution of every block, and a call into JavaScript costs a hundred times more
 * than what there is to do for a block that is known (see the host's `block-filter.ts`).
 */
const SLOTS = 1 << 14;

/** Byte offsets; a slot is address (double), size of the translation and instructions (32 bits each). */
export const TableLayout = {
  left: 0,
  lastAddress: 8,
  attentive: 16,
  lastCount: 20,
  /** For machine code: where it goes on when it cannot decide. */
  slowPath: 24,
  slots: 32,
  slotSize: 16,
  slotMask: SLOTS - 1,
  hashShift: 13,
} as const;

const SIZE = TableLayout.slots + TableLayout.slotSize * SLOTS;
const NOWHERE = -1;

const slotOf = (address: number): number => {
  const low = address | 0;
  return (low ^ (low >>> TableLayout.hashShift)) & TableLayout.slotMask;
};

const firstDouble = TableLayout.slots / 8;
const firstWord = TableLayout.slots / 4;
const addressAt = (slot: number): number => firstDouble + 2 * slot;
const sizeAt = (slot: number): number => firstWord + 4 * slot + 2;
const countAt = (slot: number): number => sizeAt(slot) + 1;

export class BlockTable {
  /** The table as bytes; it never moves. */
  readonly bytes = new Uint8Array(SIZE);
  private readonly doubles = new Float64Array(this.bytes.buffer);
  private readonly words = new Int32Array(this.bytes.buffer);

  constructor() {
    for (let slot = 0; slot < SLOTS; slot++) this.doubles[addressAt(slot)] = NOWHERE;
  }

  /** Instructions until the budget trap. */
  get left(): number {
    return this.doubles[TableLayout.left / 8]!;
  }

  set left(value: number) {
    this.doubles[TableLayout.left / 8] = value;
  }

  /** The next block needs a close look, whatever it is. */
  set attentive(value: boolean) {
    this.words[TableLayout.attentive / 4] = value ? 1 : 0;
  }

  /** The block that was entered last. */
  get lastAddress(): number {
    return this.doubles[TableLayout.lastAddress / 8]!;
  }

  /** Its instructions, counted already. */
  get lastCount(): number {
    return this.words[TableLayout.lastCount / 4]!;
  }

  set lastCount(value: number) {
    this.words[TableLayout.lastCount / 4] = value;
  }

  /** Counts a block that is about to run. */
  pass(address: number, count: number): void {
    this.left -= count;
    this.doubles[TableLayout.lastAddress / 8] = address;
    this.lastCount = count;
  }

  /** Counts a block if there is nothing to look at: it is known as plain with this size. */
  passPlain(address: number, size: number): boolean {
    const { doubles, words } = this;
    const slot = slotOf(address);
    if (doubles[addressAt(slot)] !== address || words[sizeAt(slot)] !== size) return false;
    if (words[TableLayout.attentive / 4] !== 0 || this.left <= 0) return false;
    this.pass(address, words[countAt(slot)]!);
    return true;
  }

  /** From now on {@link passPlain} knows the block. */
  add(address: number, size: number, count: number): void {
    const slot = slotOf(address);
    this.doubles[addressAt(slot)] = address;
    this.words[sizeAt(slot)] = size;
    this.words[countAt(slot)] = count;
  }

  remove(address: number): void {
    const at = addressAt(slotOf(address));
    if (this.doubles[at] === address) this.doubles[at] = NOWHERE;
  }
}
