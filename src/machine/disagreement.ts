/** The kernel decodes with tables of its own; where they and a decoder of the manuals differ, it is right. */

const bytesOf = (length: number): string => (length === 1 ? '1 byte' : `${length} bytes`);

/**
 * How the kernel's view of an instruction differs from iced-x86's, or null.
 * @param kernel the length the kernel sees; null when it cannot decode the bytes
 * @param manual the length iced-x86 sees; null when it knows no such instruction
 */
export const disagreement = (kernel: number | null, manual: number | null): string | null => {
  if (kernel === manual) return null;
  if (kernel === null)
    return `the kernel knows no such instruction, the manual one of ${bytesOf(manual ?? 0)}`;
  return manual === null
    ? `the manual knows no such instruction, the kernel takes ${bytesOf(kernel)} for one`
    : `the kernel takes ${bytesOf(kernel)} for the instruction, the manual ${bytesOf(manual)}`;
};
