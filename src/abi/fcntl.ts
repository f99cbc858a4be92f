/** Flags of open(2), fcntl(2), the *at calls, lseek(2), access(2). */
export const O = {
  RDONLY: 0,
  WRONLY: 1,
  RDWR: 2,
  ACCMODE: 3,
  CREAT: 0o100,
  EXCL: 0o200,
  NOCTTY: 0o400,
  TRUNC: 0o1000,
  APPEND: 0o2000,
  NONBLOCK: 0o4000,
  DSYNC: 0o10000,
  ASYNC: 0o20000,
  DIRECT: 0o40000,
  LARGEFILE: 0o100000,
  DIRECTORY: 0o200000,
  NOFOLLOW: 0o400000,
  NOATIME: 0o1000000,
  CLOEXEC: 0o2000000,
  SYNC: 0o4010000,
  PATH: 0o10000000,
  TMPFILE: 0o20200000,
} as const;

/** Commands of fcntl(2). */
export const F = {
  DUPFD: 0,
  GETFD: 1,
  SETFD: 2,
  GETFL: 3,
  SETFL: 4,
  GETLK: 5,
  SETLK: 6,
  SETLKW: 7,
  SETOWN: 8,
  GETOWN: 9,
  DUPFD_CLOEXEC: 1030,
  GETPIPE_SZ: 1032,
  ADD_SEALS: 1033,
  GET_SEALS: 1034,
} as const;
export const FD_CLOEXEC = 1;

/** "The working directory", where a call of the *at family takes a descriptor. */
export const AT_FDCWD = -100;

export const AtFlag = {
  SYMLINK_NOFOLLOW: 0x100,
  EACCESS: 0x200,
  REMOVEDIR: 0x200,
  SYMLINK_FOLLOW: 0x400,
  NO_AUTOMOUNT: 0x800,
  EMPTY_PATH: 0x1000,
} as const;

export const Seek = { SET: 0, CUR: 1, END: 2, DATA: 3, HOLE: 4 } as const;

export const Access = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 } as const;
