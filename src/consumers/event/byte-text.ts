/**
 * Guest bytes as text and back, without loss. UTF-8 reads as itself; a byte that is not part of
 * valid UTF-8 becomes the lone surrogate U+DC80…U+DCFF, which turns into that byte again.
 */

const LONE = 0xdc00;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Length of the valid UTF-8 sequence at `at`, or 0. */
const sequenceAt = (bytes: Uint8Array, at: number): number => {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    try {
      strict.decode(bytes.subarray(at, at + length));
      return length;
    } catch {
      // Not complete yet, or never valid: the longest sequence has four bytes.
    }
  }
  return 0;
};

const decodeMixed = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(LONE + bytes[at]!)
        : strict.decode(bytes.subarray(at, at + length));
    at += Math.max(length, 1);
  }
  return text;
};

/** Bytes as text. */
export const bytesText = (bytes: Uint8Array): string => {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeMixed(bytes);
  }
};

/** Inverse of {@link bytesText}: what to write where the kernel would have written raw bytes. */
export const textBytes = (text: string): Uint8Array => {
  const parts: number[] = [];
  let from = 0;
  for (const { index } of text.matchAll(/(?<![\ud800-\udbff])[\udc80-\udcff]/g)) {
    parts.push(...encoder.encode(text.slice(from, index)), text.charCodeAt(index) - LONE);
    from = index + 1;
  }
  return from === 0
    ? encoder.encode(text)
    : Uint8Array.from([...parts, ...encoder.encode(text.slice(from))]);
};
