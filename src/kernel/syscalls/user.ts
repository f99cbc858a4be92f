import { view } from '../../base/bytes.ts';
import { type AddressSpace, TASK_SIZE } from '../../memory/address-space.ts';
import { nameToBytes } from '../files/names.ts';

/** access_ok: the range lies in what user space can have; nothing is said of what is mapped. */
export const accessOk = (address: bigint, length: bigint): boolean => address + length <= TASK_SIZE;

/** copy_to_user of a whole structure. */
export const put = (space: AddressSpace, address: bigint, bytes: Uint8Array): 'EFAULT' | null =>
  space.write(address, bytes) === bytes.length ? null : 'EFAULT';

/** copy_from_user of a whole structure. */
export const get = (space: AddressSpace, address: bigint, size: number): DataView | undefined => {
  const bytes = new Uint8Array(size);
  return space.read(address, bytes) === size ? view(bytes) : undefined;
};

/** A structure of 64-bit words. */
export const words = (...values: readonly bigint[]): Uint8Array => {
  const bytes = new Uint8Array(8 * values.length);
  const into = view(bytes);
  values.forEach((value, i) => {
    into.setBigUint64(8 * i, BigInt.asUintN(64, value), true);
  });
  return bytes;
};

/** One 32-bit word. */
export const word32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  view(bytes).setUint32(0, value >>> 0, true);
  return bytes;
};

/** A C string of a fixed-size field: cut or filled up with NULs. */
export const field = (text: string, size: number): Uint8Array => {
  const bytes = new Uint8Array(size);
  bytes.set(nameToBytes(text).subarray(0, size - 1));
  return bytes;
};
