/** The FXSAVE64 image (SDM vol. 1, table 10-2) from and to the state in linear memory. */
import { STATE } from './layout.ts';
import type { Frames } from './memory/frames.ts';

const OFFSET = { fcw: 0, fsw: 2, ftw: 4, mxcsr: 24, mxcsrMask: 28, st: 32, xmm: 160 } as const;
/** Bits of MXCSR that exist; FXSAVE reports them. */
const MXCSR_MASK = 0xffff;

const topOf = (status: number): number => (status >> 11) & 7;

export const readFxImage = ({ bytes, view }: Frames, into: Uint8Array): void => {
  into.fill(0);
  const out = new DataView(into.buffer, into.byteOffset, into.byteLength);
  const status = view.getUint16(STATE.fsw, true);
  out.setUint16(OFFSET.fcw, view.getUint16(STATE.fcw, true), true);
  out.setUint16(OFFSET.fsw, status, true);
  out.setUint8(OFFSET.ftw, view.getUint8(STATE.ftw));
  out.setUint32(OFFSET.mxcsr, view.getUint32(STATE.mxcsr, true), true);
  out.setUint32(OFFSET.mxcsrMask, MXCSR_MASK, true);
  for (let i = 0; i < 8; i++) {
    const from = STATE.st + 16 * ((topOf(status) + i) & 7);
    into.set(bytes.subarray(from, from + 10), OFFSET.st + 16 * i);
  }
  for (let i = 0; i < 16; i++) {
    const from = STATE.xmm + 32 * i;
    into.set(bytes.subarray(from, from + 16), OFFSET.xmm + 16 * i);
  }
};

export const writeFxImage = ({ bytes, view }: Frames, image: Uint8Array): void => {
  const from = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const status = from.getUint16(OFFSET.fsw, true);
  view.setUint16(STATE.fcw, from.getUint16(OFFSET.fcw, true), true);
  view.setUint16(STATE.fsw, status, true);
  view.setUint8(STATE.ftw, from.getUint8(OFFSET.ftw));
  view.setUint32(STATE.mxcsr, from.getUint32(OFFSET.mxcsr, true), true);
  for (let i = 0; i < 8; i++) {
    const to = STATE.st + 16 * ((topOf(status) + i) & 7);
    bytes.set(image.subarray(OFFSET.st + 16 * i, OFFSET.st + 16 * i + 10), to);
  }
  for (let i = 0; i < 16; i++) {
    const to = STATE.xmm + 32 * i;
    bytes.set(image.subarray(OFFSET.xmm + 16 * i, OFFSET.xmm + 16 * i + 16), to);
  }
};
