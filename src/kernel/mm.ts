import type { Engine, EngineSnapshot } from '../cpu/engine.ts';
import type { AddressSpace } from '../memory/address-space.ts';
import type { Inode } from '../memory/backing.ts';
import type { Task } from './task.ts';

/** What {@link Mm.capture} returns. */
export interface MmState {
  readonly engine: EngineSnapshot;
  readonly space: unknown;
  readonly fields: Pick<Mm, 'exe' | 'brkStart' | 'brk' | 'auxv' | 'loaded'>;
}

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

  capture(): MmState {
    const { exe, brkStart, brk, auxv, loaded } = this;
    return {
      engine: this.engine.capture(),
      space: this.space.capture(),
      fields: { exe, brkStart, brk, auxv, loaded },
    };
  }

  restore({ engine, space, fields }: MmState): void {
    this.engine.restore(engine);
    this.space.restore(space);
    Object.assign(this, fields);
  }
}
