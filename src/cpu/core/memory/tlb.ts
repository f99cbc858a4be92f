import { FRAME, TLB } from '../layout.ts';
import type { Frames } from './frames.ts';

/** Page numbers that share an entry differ above these bits. */
const MASK = TLB.entries - 1;

/** The two tables that generated code looks into before it asks. */
export class Tlb {
  readonly #frames: Frames;

  constructor(frames: Frames) {
    this.#frames = frames;
    this.flush();
  }

  flush(): void {
    this.#forget(TLB.read);
    this.#forget(TLB.write);
  }

  flushWrites(): void {
    this.#forget(TLB.write);
  }

  #forget(table: number): void {
    this.#frames.words.fill(-1, table >> 2, (table + 16 * TLB.entries) >> 2);
  }

  fill(table: number, page: number, frame: number): void {
    const { words } = this.#frames;
    const at = (table + 16 * (page & MASK)) >> 2;
    const low = (page * FRAME) | 0;
    words[at] = low;
    words[at + 1] = Math.floor(page / 2 ** 20);
    words[at + 2] = (frame - low) | 0;
  }

  drop(page: number): void {
    this.#drop(TLB.read, page);
    this.#drop(TLB.write, page);
  }

  dropWrite(page: number): void {
    this.#drop(TLB.write, page);
  }

  #drop(table: number, page: number): void {
    const { words } = this.#frames;
    const at = (table + 16 * (page & MASK)) >> 2;
    if (words[at] === ((page * FRAME) | 0) && words[at + 1] === Math.floor(page / 2 ** 20))
      words[at] = words[at + 1] = -1;
  }
}
