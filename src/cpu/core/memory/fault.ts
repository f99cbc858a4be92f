import type { Access } from '../../engine.ts';

/** End of the addresses that user code can have. */
export const USER_END = 1n << 47n;

/** The kernel's half of the canonical addresses. */
export const isKernel = (address: bigint): boolean => address >= 0xffff_8000_0000_0000n;

/** Why an access could not be done; one object, reused. */
export interface Fault {
  kind: 'page-fault' | 'general-protection' | 'stack-fault';
  address: bigint;
  access: Access;
  mapped: boolean;
}
