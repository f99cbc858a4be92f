import type { Inode, SpecialMapping } from './backing.ts';

/** One mapped range, as `struct vm_area_struct` and a line of `/proc/self/maps` have it. */
export interface Vma {
  /** Page-aligned; `end` is exclusive. */
  readonly start: bigint;
  readonly end: bigint;
  /** Bits of `Prot`. */
  readonly prot: number;
  /** MAP_SHARED; private otherwise. */
  readonly shared: boolean;
  /** Grows down on a fault just below it (the stack). */
  readonly growsDown: boolean;
  /** File behind it, or null for anonymous memory. */
  readonly file: Inode | null;
  /** Offset of `start` in `file`, in bytes; 0 for anonymous memory. */
  readonly offset: bigint;
  /** The file system permits execution (VM_MAYEXEC); true for anonymous memory. */
  readonly mayExec: boolean;
  /** Set for mappings the kernel layer owns: mremap answers EPERM. */
  readonly special: SpecialMapping | null;
  /** `[stack]`, `[heap]` …; what maps prints when there is no file. */
  readonly label: string | null;
}

/** Address of a file offset inside a vma. Preconditions: the vma covers the offset. */
export const addressOfOffset = (vma: Vma, fileOffset: bigint): bigint =>
  vma.start + (fileOffset - vma.offset);

/** File offset behind an address inside a file-backed vma. */
export const offsetOfAddress = (vma: Vma, address: bigint): bigint =>
  vma.offset + (address - vma.start);

/** Whether the vma maps byte `fileOffset` of its file. */
export const coversOffset = (vma: Vma, fileOffset: bigint): boolean =>
  fileOffset >= vma.offset && fileOffset - vma.offset < vma.end - vma.start;
