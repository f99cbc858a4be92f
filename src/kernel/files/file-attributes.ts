import type { Attributes, DeviceNumber, FileKind } from './tree.ts';

const NO_DEVICE: DeviceNumber = { major: 0, minor: 0 };

/** Attributes of what exists in the kernel only: no host file, no size, time 0. */
export const kernelAttributes = (
  kind: FileKind,
  mode: number,
  device: DeviceNumber,
  number: bigint,
  represents: DeviceNumber = NO_DEVICE,
): Attributes => ({
  kind,
  mode,
  size: 0n,
  device,
  number,
  links: kind === 'directory' ? 2 : 1,
  uid: 0,
  gid: 0,
  represents,
  accessed: 0n,
  modified: 0n,
  changed: 0n,
});

/** An inode number that depends on the name alone (FNV-1a, 32 bits). */
export const nameNumber = (path: string): bigint => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < path.length; i++) hash = Math.imul(hash ^ path.charCodeAt(i), 0x01000193);
  return BigInt(hash >>> 0);
};
