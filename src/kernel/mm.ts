import type { Engine } from '../cpu/engine.ts';
import type { AddressSpace } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';

/** mm_struct: one address space with the engine that executes it. Tasks share it with CLONE_VM. */
export declare class Mm {
  readonly engine: Engine;
  readonly space: AddressSpace;
  /** The program's file (`/proc/self/exe`). */
  exe: Inode | null;
  /** Start and current end of the heap. */
  brkStart: bigint;
  brk: bigint;
  /** Bytes of the auxiliary vector as on the stack (`/proc/self/auxv`). */
  auxv: Uint8Array;
}
