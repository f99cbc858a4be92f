/** Vector registers as an FXSAVE64 image carries them (SDM vol. 1, table 10-2). */
import { fromHex, toHex, view } from '../base/bytes.ts';
import { FX_IMAGE_SIZE } from '../cpu/engine.ts';
import type { Vectors } from './vectors.ts';

const FCW = { offset: 0, afterFninit: 0x37f } as const;
const MXCSR = 24;
const XMM0 = 160;
const XMM_SIZE = 16;

/** What {@link Vectors} says, x87 as after fninit. */
export const fxImage = ({ ymm, mxcsr }: Vectors): Uint8Array => {
  const image = new Uint8Array(FX_IMAGE_SIZE);
  view(image).setUint16(FCW.offset, FCW.afterFninit, true);
  view(image).setUint32(MXCSR, mxcsr, true);
  for (const [n, value] of ymm.entries())
    image.set((fromHex(value) ?? new Uint8Array(0)).subarray(0, XMM_SIZE), XMM0 + XMM_SIZE * n);
  return image;
};

/** The first `count` xmm registers as hex. */
export const xmmOf = (image: Uint8Array, count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    toHex(image.subarray(XMM0 + XMM_SIZE * n, XMM0 + XMM_SIZE * (n + 1))),
  );
