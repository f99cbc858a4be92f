/** Numbers and vectors of the WebAssembly binary format (core specification, chapter 5). */

export type Type = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

export const TYPE_BYTE: Readonly<Record<Type, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

/** LEB128 of a number below 2^32. */
export const unsigned = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
};

/** LEB128 of a number that fits 32 bits. */
export const signed32 = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value | 0;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest & 0x7f);
  return bytes;
};

/** LEB128 of a number that fits 64 bits. */
export const signed64 = (value: bigint): number[] => {
  const bytes: number[] = [];
  let rest = BigInt.asIntN(64, value);
  for (; rest < -64n || rest > 63n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest & 0x7fn));
  return bytes;
};

/** Length, then the items. */
export const vector = (items: readonly (readonly number[])[]): number[] => {
  const bytes = unsigned(items.length);
  for (const item of items) for (const byte of item) bytes.push(byte);
  return bytes;
};

export const text = (characters: string): number[] => [
  ...unsigned(characters.length),
  ...Array.from(characters, (character) => character.charCodeAt(0)),
];
