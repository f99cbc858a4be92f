/**
 * What lies behind a mapping. Bytes come through a reader that is passed in, so this layer knows
 * neither paths nor hosts.
 */

/** A file that can be mapped. Identity is the object: two mappings of one file share one Inode. */
export interface Inode {
  /** Device and inode number as `/proc/self/maps` shows them. */
  readonly device: { readonly major: number; readonly minor: number };
  readonly number: bigint;
  /** Path in the guest's view; what `/proc/self/maps` and `readlink(/proc/self/exe)` print. */
  readonly path: string;
  /** Size in bytes now. */
  readonly size: bigint;
  /** Copies bytes from `offset` on; returns how many there were (fewer only at end of file). */
  read(offset: bigint, into: Uint8Array): number;
}

/**
 * A mapping that the kernel layer itself owns (`[uprobes]`, `[uprobes-trampoline]`, `[vdso]`).
 * Contents are poked in by the owner after mapping.
 */
export interface SpecialMapping {
  /** Name in `/proc/self/maps`, brackets included. */
  readonly name: string;
  /** fork copies it into the child (VM_DONTCOPY clear). */
  readonly copiedOnFork: boolean;
  /** munmap and mprotect of a part answer EINVAL (may_split); mremap cannot make it larger. */
  readonly indivisible?: true;
}
