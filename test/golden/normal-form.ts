/**
 * What two machines cannot be expected to have alike, taken out (`fixtures/README.md`): stack,
 * libraries, vdso and `[uprobes]` lie where the kernel likes.
 */
const HIGH_START = 0x7ff0_0000_0000n;
const HIGH_END = 0x8000_0000_0000n;

const isHigh = (value: bigint): boolean => value >= HIGH_START && value < HIGH_END;

/** A trace line without the columns before its event: high addresses become the word HIGH. */
export const normalTrace = (line: string): string =>
  line.replace(/0x[0-9a-f]+/g, (number) => (isHigh(BigInt(number)) ? 'HIGH' : number));

/** SF, ZF, AF and PF. */
const UNDEFINED_FLAGS = 0xd4n;

/** A line of the section `registers`, `EVENT KIND ax=0 …`. */
export const normalRegisters = (line: string, undefinedFlags: boolean): string =>
  line.replace(/ (\w+)=([0-9a-f]+)/g, (_, name: string, digits: string) => {
    const value = BigInt(`0x${digits}`);
    if (isHigh(value)) return ` ${name}=HIGH`;
    const masked = name === 'flags' && undefinedFlags ? value & ~UNDEFINED_FLAGS : value;
    return ` ${name}=${masked.toString(16)}`;
  });

/** The addresses in parentheses depend on the compiler: `EVENT: (…) args`. */
export const withoutAddresses = (line: string): string => line.replace(/\([^)]*\)/, '(…)');
