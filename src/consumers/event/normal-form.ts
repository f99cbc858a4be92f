/** User addresses from here on are the kernel's choice: stack, libraries, vdso, `[uprobes]`. */
const HIGH_START = 0x7ff0_0000_0000n;
const HIGH_END = 0x8000_0000_0000n;

/**
 * What two machines have alike of a trace line that begins with its event: addresses where the
 * kernel likes them become the word HIGH.
 */
export const normalForm = (body: string): string =>
  body.replace(/0x[0-9a-f]+/g, (number) => {
    const value = BigInt(number);
    return value >= HIGH_START && value < HIGH_END ? 'HIGH' : number;
  });
