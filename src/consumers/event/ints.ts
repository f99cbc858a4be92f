/** Little-endian integers of 1, 2, 4 or 8 bytes as bigint. */

type Get = (view: DataView, at: number) => bigint;
type Put = (view: DataView, at: number, value: bigint) => void;

const GET: Readonly<Record<number, Get>> = {
  1: (view, at) => BigInt(view.getUint8(at)),
  2: (view, at) => BigInt(view.getUint16(at, true)),
  4: (view, at) => BigInt(view.getUint32(at, true)),
  8: (view, at) => view.getBigUint64(at, true),
};

const PUT: Readonly<Record<number, Put>> = {
  1: (view, at, value) => view.setUint8(at, Number(value & 0xffn)),
  2: (view, at, value) => view.setUint16(at, Number(value & 0xffffn), true),
  4: (view, at, value) => view.setUint32(at, Number(value & 0xffffffffn), true),
  8: (view, at, value) => view.setBigUint64(at, value, true),
};

/** Preconditions: `size` is 1, 2, 4 or 8. */
export const getUnsigned = (view: DataView, at: number, size: number): bigint =>
  GET[size]!(view, at);

/** Stores the low bytes of `value`. Preconditions: as {@link getUnsigned}. */
export const putUnsigned = (view: DataView, at: number, size: number, value: bigint): void =>
  PUT[size]!(view, at, value);
