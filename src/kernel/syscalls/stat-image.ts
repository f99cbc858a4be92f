import { Mode, makeDevice, STATX_BASIC_STATS, Stat, Statx } from '../../abi/stat.ts';
import { view } from '../../base/bytes.ts';
import type { Attributes, FileKind } from '../files/tree.ts';
import { NS_PER_SECOND } from './user-time.ts';

/** st_blksize of everything. */
const BLOCK_SIZE = 4096;

const TYPE_BITS: Readonly<Record<FileKind, number>> = {
  file: Mode.IFREG,
  directory: Mode.IFDIR,
  symlink: Mode.IFLNK,
  fifo: Mode.IFIFO,
  socket: Mode.IFSOCK,
  'char-device': Mode.IFCHR,
  'block-device': Mode.IFBLK,
};

/** st_mode. */
export const modeOf = ({ kind, mode }: Attributes): number => TYPE_BITS[kind] | mode;

/** Units of 512 bytes that the size takes in whole blocks. */
const blocksOf = (size: bigint): bigint => ((size + 4095n) / 4096n) * 8n;

/** struct stat. */
export const statImage = (attributes: Attributes): Uint8Array => {
  const bytes = new Uint8Array(Stat.size);
  const into = view(bytes);
  const u64 = (at: number, value: bigint): void => into.setBigInt64(at, value, true);
  const u32 = (at: number, value: number): void => into.setUint32(at, value, true);
  const { device, represents, size } = attributes;
  u64(Stat.dev, makeDevice(device.major, device.minor));
  u64(Stat.ino, attributes.number);
  u64(Stat.nlink, BigInt(attributes.links));
  u32(Stat.mode, modeOf(attributes));
  u32(Stat.uid, attributes.uid);
  u32(Stat.gid, attributes.gid);
  u64(Stat.rdev, makeDevice(represents.major, represents.minor));
  u64(Stat.fileSize, size);
  u64(Stat.blksize, BigInt(BLOCK_SIZE));
  u64(Stat.blocks, blocksOf(size));
  const time = (at: number, ns: bigint): void => {
    u64(at, ns / NS_PER_SECOND);
    u64(at + 8, ns % NS_PER_SECOND);
  };
  time(Stat.atime, attributes.accessed);
  time(Stat.mtime, attributes.modified);
  time(Stat.ctime, attributes.changed);
  return bytes;
};

/** struct statx: the basic fields, whatever the mask asked for. */
export const statxImage = (attributes: Attributes): Uint8Array => {
  const bytes = new Uint8Array(Statx.size);
  const into = view(bytes);
  const u64 = (at: number, value: bigint): void => into.setBigInt64(at, value, true);
  const u32 = (at: number, value: number): void => into.setUint32(at, value, true);
  const { device, represents, size } = attributes;
  u32(Statx.mask, STATX_BASIC_STATS);
  u32(Statx.blksize, BLOCK_SIZE);
  u32(Statx.nlink, attributes.links);
  u32(Statx.uid, attributes.uid);
  u32(Statx.gid, attributes.gid);
  into.setUint16(Statx.mode, modeOf(attributes), true);
  u64(Statx.ino, attributes.number);
  u64(Statx.fileSize, size);
  u64(Statx.blocks, blocksOf(size));
  const time = (at: number, ns: bigint): void => {
    u64(at, ns / NS_PER_SECOND);
    u32(at + 8, Number(ns % NS_PER_SECOND));
  };
  time(Statx.atime, attributes.accessed);
  time(Statx.mtime, attributes.modified);
  time(Statx.ctime, attributes.changed);
  u32(Statx.rdevMajor, represents.major);
  u32(Statx.rdevMinor, represents.minor);
  u32(Statx.devMajor, device.major);
  u32(Statx.devMinor, device.minor);
  return bytes;
};
