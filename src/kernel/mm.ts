import type { Engine } from '../cpu/engine.ts';
import type { AddressSpace } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';
import type { Task } from './task.ts';

/** mm_struct: one address space with the engine that executes it. Tasks share it with CLONE_VM. */
export class Mm {
  readonly engine: Engine;
  readonly space: AddressSpace;
  /** The program's file (`/proc/self/exe`). */
  exe: Inode | null = null;
  /** Start and current end of the heap. */
  brkStart = 0n;
  brk = 0n;
  /** Bytes of the auxiliary vector as on the stack (`/proc/self/auxv`). */
  auxv: Uint8Array = new Uint8Array(0);
  /** Whose registers the engine holds. */
  loaded: Task | null = null;

  constructor(engine: Engine, space: AddressSpace) {
    this.engine = engine;
    this.space = space;
  }
}
