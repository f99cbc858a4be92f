import { FRAME, RECORD } from '../layout.ts';
import type { Frames } from '../memory/frames.ts';

/** Frames taken at a time. */
const CHUNK_FRAMES = 32;
/** Beyond this everything is decoded anew: 16 MiB, a quarter of a million instructions. */
const MOST_CHUNKS = 128;

/** Room for records, given out in order and taken back all at once. */
export class Arena {
  readonly #frames: Frames;
  readonly #chunks: number[] = [];
  #chunk = -1;
  #next = 0;
  #end = 0;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  /** Address of `count` records' room; what is not used of it can be taken again. */
  reserve(count: number): number {
    const size = RECORD.size * count;
    if (this.#next + size > this.#end) {
      this.#chunk++;
      const at = this.#chunks[this.#chunk] ?? this.#frames.run(CHUNK_FRAMES);
      this.#chunks[this.#chunk] = at;
      this.#next = at;
      this.#end = at + CHUNK_FRAMES * FRAME;
    }
    return this.#next;
  }

  /** The room up to `end` is used. */
  use(end: number): void {
    this.#next = end;
  }

  get full(): boolean {
    return this.#chunk >= MOST_CHUNKS - 1;
  }

  reset(): void {
    this.#chunk = -1;
    this.#next = this.#end = 0;
  }
}
