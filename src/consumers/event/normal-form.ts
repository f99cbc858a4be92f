/** User addresses from here on are the kernel's choice: stack, libraries, vdso, `[uprobes]`. */
const HIGH_START = 0x7ff0_0000_0000n;
const HIGH_END = 0x8000_0000_0000n;
/** With five-level page tables the first choice for `[uprobes]` is the last page of 56 bits. */
const FIVE_LEVEL_TOP = 0xff_ffff_ffff_f000n - 0x1000n;

/** An address where another kernel, or the same one another time, may have put something else. */
export const isHigh = (value: bigint): boolean =>
  (value >= HIGH_START && value < HIGH_END) || value >> 12n === FIVE_LEVEL_TOP >> 12n;

/**
 * What two machines have alike of a trace line that begins with its event: addresses where the
 * kernel likes them become the word HIGH.
 */
export const normalForm = (body: string): string =>
  body.replace(/0x[0-9a-f]+/g, (number) => (isHigh(BigInt(number)) ? 'HIGH' : number));
