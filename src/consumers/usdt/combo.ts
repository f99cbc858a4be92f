import { PAGE_MASK, PAGE_SIZE } from '../../base/bytes.ts';
import type { Profile } from '../../uprobes/index.ts';

/**
 * Newer <sys/sdt.h> headers put a long nop behind the probe's one-byte nop. Where the kernel makes
 * that long nop a call, libbpf attaches to it instead, one byte further on.
 */
const COMBOS: Readonly<Record<Profile['optimise'], readonly number[] | null>> = {
  none: null,
  nop5: [0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00],
  nop10: [0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
};

/** The file offset that a kernel's probe on the site gets. */
export const usdtAttachOffset = (file: Uint8Array, offset: bigint, profile: Profile): bigint => {
  const combo = COMBOS[profile.optimise];
  if (combo === null) return offset;
  const end = ((offset + 1n) & PAGE_MASK) + BigInt(combo.length - 1);
  const at = Number(offset);
  const matches = combo.every((byte, i) => file[at + i] === byte);
  return matches && end <= PAGE_SIZE ? offset + 1n : offset;
};
