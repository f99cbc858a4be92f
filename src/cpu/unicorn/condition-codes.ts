/**
 * The arithmetic flags as QEMU keeps them: not as bits but as the last operation with its result and one operand.
 * Working them out here is much cheaper than asking the native library. Flags: SDM vol. 1, 3.4.3.1.
 */

/** Byte offsets from `eflags`, which has the other flags; QEMU's order since 2.2. */
export const CcLayout = { result: 8, operand: 16, operation: 32, direction: 36 } as const;

const Flag = { CF: 1, PF: 4, AF: 0x10, ZF: 0x40, SF: 0x80, DF: 0x400, OF: 0x800 } as const;
const ARITHMETIC = 0x8d5;

/** The operand holds the flags themselves. */
export const AS_FLAGS = 1;
/** Each the first of four operations: on 1, 2, 4 and 8 bytes. */
const FIRST = { add: 6, sub: 14, logic: 22, inc: 26, dec: 30 } as const;
const END = 34;
const WIDE = 3;

/** PF by the result's low byte: set for an even number of ones. */
const PARITY = Uint8Array.from({ length: 256 }, (_, byte) => {
  let odd = 0;
  for (let bits = byte; bits !== 0; bits >>= 1) odd ^= bits & 1;
  return odd === 0 ? Flag.PF : 0;
});

const TOP_BIT = 0x8000_0000 | 0;
const isLess = (a: number, b: number): boolean => a >>> 0 < b >>> 0;
const carryIf = (condition: boolean): number => (condition ? Flag.CF : 0);
const overflowIf = (condition: boolean): number => (condition ? Flag.OF : 0);

export class ConditionCodes {
  /** Of the operation at hand, as they are. */
  private result = 0;
  private operand = 0;
  /** The same in halves; narrow values are moved up until their top bit is that of the high half. */
  private shift = 0;
  private low = 0;
  private high = 0;
  private operandLow = 0;
  private operandHigh = 0;

  /** RFLAGS of a CPU whose `eflags` is at index `at`; undefined for operations that are not worked out here. */
  flags(words: Int32Array, at: number): number | undefined {
    const others =
      (words[at]! & ~(ARITHMETIC | Flag.DF)) | (words[at + CcLayout.direction / 4]! & Flag.DF);
    const operation = words[at + CcLayout.operation / 4]!;
    if (operation === AS_FLAGS) return others | (words[at + CcLayout.operand / 4]! & ARITHMETIC);
    if (operation < FIRST.add || operation >= END) return undefined;
    const width = (operation - FIRST.add) & 3;
    this.load(words, at, width);
    const carries = this.carries(operation - width, width === WIDE);
    return carries === undefined ? undefined : others | this.ofResult() | carries;
  }

  private load(words: Int32Array, at: number, width: number): void {
    const result = at + CcLayout.result / 4;
    const operand = at + CcLayout.operand / 4;
    this.result = words[result]!;
    this.operand = words[operand]!;
    const wide = width === WIDE;
    this.shift = wide ? 0 : 32 - (8 << width);
    this.low = wide ? this.result : 0;
    this.high = wide ? words[result + 1]! : this.result << this.shift;
    this.operandLow = wide ? this.operand : 0;
    this.operandHigh = wide ? words[operand + 1]! : this.operand << this.shift;
  }

  private ofResult(): number {
    const { low, high } = this;
    return (
      ((low | high) === 0 ? Flag.ZF : 0) | (high < 0 ? Flag.SF : 0) | PARITY[this.result & 0xff]!
    );
  }

  /** CF, AF and OF. */
  private carries(first: number, wide: boolean): number | undefined {
    switch (first) {
      case FIRST.add:
        return this.ofSum();
      case FIRST.sub:
        return this.ofDifference();
      case FIRST.logic:
        return 0;
      case FIRST.inc:
        return this.ofStep(this.result - 1, TOP_BIT, 0);
      case FIRST.dec:
        return this.ofStep(this.result + 1, TOP_BIT - (1 << this.shift), wide ? -1 : 0);
      default:
        return undefined; // with carry in
    }
  }

  private ofSum(): number {
    const { low, high, operandLow, operandHigh, result, operand } = this;
    const borrow = isLess(low, operandLow) ? 1 : 0;
    const otherHigh = high - operandHigh - borrow;
    const carry = high === operandHigh ? borrow === 1 : isLess(high, operandHigh);
    const overflow = (~(operandHigh ^ otherHigh) & (operandHigh ^ high)) < 0;
    return (
      carryIf(carry) | ((result ^ operand ^ (result - operand)) & Flag.AF) | overflowIf(overflow)
    );
  }

  private ofDifference(): number {
    const { low, high, operandLow, operandHigh, result, operand } = this;
    // What was subtracted from.
    const fromLow = (low + operandLow) | 0;
    const fromHigh = (high + operandHigh + (isLess(fromLow, low) ? 1 : 0)) | 0;
    const carry =
      fromHigh === operandHigh ? isLess(fromLow, operandLow) : isLess(fromHigh, operandHigh);
    const overflow = ((fromHigh ^ operandHigh) & (fromHigh ^ high)) < 0;
    return (
      carryIf(carry) | ((result ^ operand ^ (result + operand)) & Flag.AF) | overflowIf(overflow)
    );
  }

  /** `inc` and `dec` leave CF alone; they overflow into one result. */
  private ofStep(before: number, overflowHigh: number, overflowLow: number): number {
    const { low, high, result, operand } = this;
    const overflow = high === (overflowHigh | 0) && low === overflowLow;
    return (operand & Flag.CF) | ((result ^ before ^ 1) & Flag.AF) | overflowIf(overflow);
  }
}
