/**
 * Bytes that usually are text (file names, strings of the guest) as strings, without loss. Valid
 * UTF-8 becomes the same text; every other byte becomes a lone surrogate U+DC80-U+DCFF (Python's
 * "surrogateescape"), so that any bytes make the way there and back unchanged.
 */

const ESCAPE = 0xdc00;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const decodeStrict = (bytes: Uint8Array): string | undefined => {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
};

/** Length the lead byte of a UTF-8 sequence announces; 1 for everything that leads none. */
const announced = (lead: number): number =>
  lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;

/** Text of bytes. Inverse of {@link textBytes}. */
export const bytesText = (bytes: Uint8Array): string => {
  const whole = decodeStrict(bytes);
  if (whole !== undefined) return whole;
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = announced(bytes[at]!);
    const part = decodeStrict(bytes.subarray(at, at + length));
    text += part ?? String.fromCharCode(ESCAPE + bytes[at]!);
    at += part === undefined ? 1 : length;
  }
  return text;
};

/** Bytes of a text. */
export const textBytes = (text: string): Uint8Array => {
  if (!/[\udc80-\udcff]/.test(text)) return encoder.encode(text);
  const bytes: number[] = [];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff) bytes.push(code - ESCAPE);
    else bytes.push(...encoder.encode(char));
  }
  return Uint8Array.from(bytes);
};

/** The text as it can be shown to people: escaped bytes become U+FFFD. */
export const textForPeople = (text: string): string => text.replace(/[\udc80-\udcff]/gu, '\ufffd');

/** Each byte as the character of its number: cheap, and enough to compare bytes as text. */
export const bytesLatin1 = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};
