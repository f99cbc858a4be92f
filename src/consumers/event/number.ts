/**
 * Numbers as the kernel reads them (kstrtoul, kstrtol): radix by prefix, the whole text must be one
 * number, and a number too large is told apart from no number at all.
 */

export type NumberErrno = 'EINVAL' | 'ERANGE';

const LIMIT = 1n << 64n;
const SIGN = 1n << 63n;

const DIGITS: Readonly<Record<8 | 10 | 16, RegExp>> = {
  8: /^[0-7]+/,
  10: /^[0-9]+/,
  16: /^[0-9a-f]+/i,
};

const radixOf = (text: string): 8 | 10 | 16 => {
  if (/^0x[0-9a-f]/i.test(text)) return 16;
  return text.startsWith('0') ? 8 : 10;
};

const digits = (text: string, radix: 8 | 10 | 16): bigint | NumberErrno => {
  const body = radix === 16 ? text.replace(/^0x/i, '') : text;
  const found = DIGITS[radix].exec(body)?.[0];
  if (found === undefined) return 'EINVAL';
  const value = BigInt(radix === 16 ? `0x${found}` : radix === 8 ? `0o${found}` : found);
  // The kernel notices the overflow before it looks at what follows.
  if (value >= LIMIT) return 'ERANGE';
  return found.length === body.length ? value : 'EINVAL';
};

/**
 * Unsigned 64-bit number. A leading plus is accepted.
 * @param radix default: 16 after `0x`, 8 after `0`, else 10.
 */
export const parseUnsigned = (text: string, radix?: 10): bigint | NumberErrno => {
  const body = text.startsWith('+') ? text.slice(1) : text;
  return digits(body, radix ?? radixOf(body));
};

/** Signed 64-bit number. */
export const parseSigned = (text: string): bigint | NumberErrno => {
  const negative = text.startsWith('-');
  const body = text.slice(1);
  const value = negative ? digits(body, radixOf(body)) : parseUnsigned(text);
  if (typeof value !== 'bigint') return value;
  if (value > SIGN || (value === SIGN && !negative)) return 'ERANGE';
  return negative ? -value : value;
};
