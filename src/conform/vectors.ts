/** Vector registers a recorded case starts with, as the head of a table describes them in words. */
import { toHex } from '../base/bytes.ts';
import type { Field } from './fields.ts';
import { byteRule } from './region.ts';

export interface Vectors {
  /** 32 bytes each as hex, from ymm0 on; the others are 0. */
  readonly ymm: readonly string[];
  readonly k1: string;
  readonly mxcsr: number;
}

const YMM_SIZE = 32;
const YMM_COUNT = 16;
const MXCSR_DEFAULT = 0x1f80;

const ymmOf = (text: string): string[] | null => {
  const [, last] = /ymm0\.\.(\d+) = \d+ bytes/.exec(text) ?? [];
  const rule = byteRule(text);
  if (last === undefined || rule === null || Number(last) >= YMM_COUNT) return null;
  return Array.from({ length: Number(last) + 1 }, (_, n) =>
    toHex(Uint8Array.from({ length: YMM_SIZE }, (_, i) => rule(YMM_SIZE * n + i))),
  );
};

/** For example `ymm0..3 = 128 bytes, byte i = (7*i+1) mod 256; k1 = 0x1; x87 as after fninit; MXCSR 0x1f80`. */
export const readVectors = (field: Field): Vectors => {
  const text = field.text();
  const ymm = ymmOf(text);
  if (ymm === null) field.fail('a rule such as "ymm0..3 = 128 bytes, byte i = (7*i+1) mod 256"');
  const [, k1 = '0'] = /\bk1 = 0x([0-9a-f]+)/i.exec(text) ?? [];
  const [, mxcsr] = /\bMXCSR (0x[0-9a-f]+)/i.exec(text) ?? [];
  return {
    ymm,
    k1: `0x${BigInt(`0x${k1}`).toString(16)}`,
    mxcsr: mxcsr === undefined ? MXCSR_DEFAULT : Number(mxcsr),
  };
};
