/** The x87 environment and state in memory (SDM vol. 1, 8.1.10; vol. 2, FNSTENV and FNSAVE). */

import { takeApart } from './extended.ts';
import type { Fpu } from './fpu.ts';

/** Bytes of the environment with 16-bit and 32-bit fields; registers follow it, 10 bytes each. */
const ENVIRONMENT = { narrow: 14, wide: 28 } as const;

export type Width = keyof typeof ENVIRONMENT;

const isSpecial = (fpu: Fpu, i: number): number => {
  const { kind, denormal } = takeApart(fpu.bits(i));
  if (kind === 'zero') return 1;
  return kind === 'finite' && !denormal ? 0 : 2;
};

/** Two bits a physical register: valid, zero, special, empty. */
const fullTags = (fpu: Fpu): number => {
  let tags = 0;
  for (let i = 0; i < 8; i++) {
    const physical = (fpu.top + i) & 7;
    tags |= (fpu.isEmpty(i) ? 3 : isSpecial(fpu, i)) << (2 * physical);
  }
  return tags;
};

/** FNSTENV masks every exception afterwards. Pointers to instruction and operand are not kept: 0. */
export const storeEnvironment = (fpu: Fpu, into: Uint8Array, width: Width): void => {
  const view = new DataView(into.buffer, into.byteOffset, ENVIRONMENT[width]);
  const words = [fpu.controlWord, fpu.status, fullTags(fpu)];
  into.fill(0, 0, ENVIRONMENT[width]);
  words.forEach((word, i) => {
    if (width === 'narrow') view.setUint16(2 * i, word, true);
    // The upper halves read as ones.
    else view.setUint32(4 * i, (0xffff_0000 | word) >>> 0, true);
  });
  if (width === 'wide') view.setUint32(24, 0xffff_0000, true);
};

export const maskAll = (fpu: Fpu): void => {
  fpu.controlWord |= 0x3f;
};

export const loadEnvironment = (fpu: Fpu, from: Uint8Array, width: Width): void => {
  const view = new DataView(from.buffer, from.byteOffset, ENVIRONMENT[width]);
  const step = width === 'narrow' ? 2 : 4;
  const [control = 0, status = 0, tags = 0] = [0, 1, 2].map((i) => view.getUint16(step * i, true));
  fpu.controlWord = control;
  fpu.status = status;
  let used = 0;
  for (let i = 0; i < 8; i++) if (((tags >> (2 * i)) & 3) !== 3) used |= 1 << i;
  fpu.tags = used;
};

/** FNSAVE: the environment, the registers from ST(0) on, then as after FNINIT. */
export const storeState = (fpu: Fpu, into: Uint8Array, width: Width): void => {
  storeEnvironment(fpu, into, width);
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  for (let i = 0; i < 8; i++) {
    const at = ENVIRONMENT[width] + 10 * i;
    view.setBigUint64(at, BigInt.asUintN(64, fpu.bits(i)), true);
    view.setUint16(at + 8, Number(fpu.bits(i) >> 64n), true);
  }
  fpu.reset();
};

export const loadState = (fpu: Fpu, from: Uint8Array, width: Width): void => {
  loadEnvironment(fpu, from, width);
  const used = fpu.tags;
  const view = new DataView(from.buffer, from.byteOffset, from.byteLength);
  for (let i = 0; i < 8; i++) {
    const at = ENVIRONMENT[width] + 10 * i;
    fpu.put(i, (BigInt(view.getUint16(at + 8, true)) << 64n) | view.getBigUint64(at, true));
  }
  fpu.tags = used;
};
