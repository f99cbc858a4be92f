/** Little-endian access to plain byte arrays; the guest's byte order. */

const MASK64 = (1n << 64n) - 1n;

export const PAGE_SIZE = 4096n;
export const PAGE_MASK = PAGE_SIZE - 1n;

/** `value` modulo 2^64: what a 64-bit register holds. */
export const u64 = (value: bigint): bigint => value & MASK64;

/** `value` read as a signed 64-bit number. */
export const s64 = (value: bigint): bigint => BigInt.asIntN(64, value);

export const pageDown = (address: bigint): bigint => address & ~PAGE_MASK;
export const pageUp = (address: bigint): bigint => (address + PAGE_MASK) & ~PAGE_MASK;

/** Math.min and Math.max do not take bigints. */
export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const greatest = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export const hex = (value: bigint | number): string => `0x${value.toString(16)}`;

export const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes as lower-case hex without separators. */
export const toHex = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
};

/** Inverse of {@link toHex}; blanks between bytes are allowed. Returns undefined for anything else. */
export const fromHex = (text: string): Uint8Array | undefined => {
  const digits = text.replace(/\s+/g, '');
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
};
