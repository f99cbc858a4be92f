/**
 * What two machines cannot be expected to have alike of registers and addresses, taken out
 * (`fixtures/README.md`); of trace lines `normalForm` takes it out.
 */
import { isHigh } from '../../src/consumers/event/normal-form.ts';

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
