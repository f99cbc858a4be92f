/** Flags of mmap(2) and its relatives. Protection bits are `Prot` of the engine contract. */
export const MapFlag = {
  SHARED: 0x01,
  PRIVATE: 0x02,
  SHARED_VALIDATE: 0x03,
  TYPE: 0x0f,
  FIXED: 0x10,
  ANONYMOUS: 0x20,
  BIT32: 0x40,
  GROWSDOWN: 0x100,
  DENYWRITE: 0x800,
  EXECUTABLE: 0x1000,
  LOCKED: 0x2000,
  NORESERVE: 0x4000,
  POPULATE: 0x8000,
  NONBLOCK: 0x10000,
  STACK: 0x20000,
  HUGETLB: 0x40000,
  SYNC: 0x80000,
  FIXED_NOREPLACE: 0x100000,
} as const;

/** All bits mprotect(2) and mmap(2) know, PROT_GROWSDOWN and PROT_GROWSUP included. */
export const ProtFlag = {
  READ: 1,
  WRITE: 2,
  EXEC: 4,
  SEM: 8,
  GROWSDOWN: 0x01000000,
  GROWSUP: 0x02000000,
} as const;

export const Mremap = { MAYMOVE: 1, FIXED: 2, DONTUNMAP: 4 } as const;

export const Msync = { ASYNC: 1, INVALIDATE: 2, SYNC: 4 } as const;

/** Advice of madvise(2). */
export const Madv = {
  NORMAL: 0,
  RANDOM: 1,
  SEQUENTIAL: 2,
  WILLNEED: 3,
  DONTNEED: 4,
  FREE: 8,
  REMOVE: 9,
  DONTFORK: 10,
  DOFORK: 11,
  MERGEABLE: 12,
  UNMERGEABLE: 13,
  HUGEPAGE: 14,
  NOHUGEPAGE: 15,
  DONTDUMP: 16,
  DODUMP: 17,
  WIPEONFORK: 18,
  KEEPONFORK: 19,
  COLD: 20,
  PAGEOUT: 21,
  POPULATE_READ: 22,
  POPULATE_WRITE: 23,
} as const;
