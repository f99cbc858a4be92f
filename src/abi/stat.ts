/** struct stat of x86-64 (asm/stat.h): offsets in bytes. */
export const Stat = {
  dev: 0,
  ino: 8,
  nlink: 16,
  /** 32-bit from here to gid. */
  mode: 24,
  uid: 28,
  gid: 32,
  rdev: 40,
  fileSize: 48,
  blksize: 56,
  blocks: 64,
  atime: 72,
  atimeNs: 80,
  mtime: 88,
  mtimeNs: 96,
  ctime: 104,
  ctimeNs: 112,
  size: 144,
} as const;

/** struct statx (linux/stat.h): offsets in bytes. */
export const Statx = {
  mask: 0,
  blksize: 4,
  attributes: 8,
  nlink: 16,
  uid: 20,
  gid: 24,
  /** 16 bits. */
  mode: 28,
  ino: 32,
  fileSize: 40,
  blocks: 48,
  attributesMask: 56,
  /** struct statx_timestamp: s64 seconds, u32 nanoseconds, 16 bytes each. */
  atime: 64,
  btime: 80,
  ctime: 96,
  mtime: 112,
  rdevMajor: 128,
  rdevMinor: 132,
  devMajor: 136,
  devMinor: 140,
  mountId: 144,
  size: 256,
} as const;
/** STATX_BASIC_STATS: type, mode, nlink, uid, gid, times, ino, size, blocks. */
export const STATX_BASIC_STATS = 0x7ff;

/** File types and set-id bits of st_mode. */
export const Mode = {
  IFMT: 0o170000,
  IFSOCK: 0o140000,
  IFLNK: 0o120000,
  IFREG: 0o100000,
  IFBLK: 0o060000,
  IFDIR: 0o040000,
  IFCHR: 0o020000,
  IFIFO: 0o010000,
} as const;

/** Types of directory entries (getdents64). */
export const Dt = {
  UNKNOWN: 0,
  FIFO: 1,
  CHR: 2,
  DIR: 4,
  BLK: 6,
  REG: 8,
  LNK: 10,
  SOCK: 12,
} as const;

/** dev_t as user space sees it (gnu_dev_makedev). */
export const makeDevice = (major: number, minor: number): bigint =>
  ((BigInt(major) & 0xfffn) << 8n) |
  ((BigInt(major) & 0xfffff000n) << 32n) |
  (BigInt(minor) & 0xffn) |
  ((BigInt(minor) & 0xffffff00n) << 12n);
