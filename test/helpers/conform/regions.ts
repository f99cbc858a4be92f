/** The memory every case of the recorded tables starts with, and the guest's own places around it. */

const PAGE = 4096;

export interface Region {
  readonly address: number;
  /** Bytes before each run; null = no access. */
  readonly initial: ((alt: bigint) => Uint8Array) | null;
}

const filled = (byteAt: (index: number) => number): Uint8Array =>
  Uint8Array.from({ length: PAGE }, (_, index) => byteAt(index) & 0xff);

const stackPage = (alt: bigint): Uint8Array => {
  const page = filled(() => 0x5a);
  const view = new DataView(page.buffer);
  view.setBigUint64(2048, alt, true);
  view.setBigUint64(2056, 0x1212121212121212n, true);
  return page;
};

export const REGIONS: readonly Region[] = [
  { address: 0x4be000, initial: null },
  { address: 0x4bf000, initial: () => filled((i) => 13 * i) },
  { address: 0x4c0000, initial: stackPage },
  { address: 0x4c1000, initial: () => filled((i) => 37 * i + 11) },
];

/** The text file's mapping: everything from here to the first region. */
export const TEXT = { start: 0x400000, end: 0x4be000 } as const;

/** Where signal handlers would be, and their stack. */
export const HANDLER = 0x401800n;
export const SIGNAL_STACK = { start: 0x4d0000n, size: 0x4000n } as const;

/** ymm0-3 before each run. */
export const vectorByte = (index: number): number => (7 * index + 1) & 0xff;
