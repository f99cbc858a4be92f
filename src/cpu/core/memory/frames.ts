import { TraplineError } from '../../../base/errors.ts';
import { FIRST_FRAME, FRAME } from '../layout.ts';
import { createMemory, type WasmMemory } from '../wasm/host.ts';

/** Bytes of a WebAssembly page. */
const WASM_PAGE = 65536;
/** WebAssembly's own limit: 4 GiB. */
const MOST_PAGES = 65536;
const FIRST_PAGES = 32;
/** Grown by a quarter, at least by this. */
const LEAST_GROWTH = 64;

/** Linear memory cut into frames of 4 KiB. Growing it makes new views: always go through the fields. */
export class Frames {
  readonly memory: WasmMemory = createMemory(FIRST_PAGES);
  bytes!: Uint8Array;
  view!: DataView;
  words!: Int32Array;
  #next = FIRST_FRAME;
  #end = 0;
  readonly #free: number[] = [];
  /** A frame of zeros, for pages that have only been read. */
  readonly zero: number;

  constructor() {
    this.#look();
    this.zero = this.allocate();
  }

  /** A frame; what it holds is left over. */
  #take(): number {
    return this.#free.pop() ?? this.run(1);
  }

  /** A frame of zeros. */
  allocate(): number {
    const at = this.#take();
    this.bytes.fill(0, at, at + FRAME);
    return at;
  }

  copy(from: number): number {
    const at = this.#take();
    this.bytes.copyWithin(at, from, from + FRAME);
    return at;
  }

  /** Frames that follow one another; they are never freed. */
  run(count: number): number {
    const at = this.#next;
    this.#next += count * FRAME;
    if (this.#next > this.#end) this.#grow();
    return at;
  }

  free(at: number): void {
    this.#free.push(at);
  }

  #grow(): void {
    const pages = this.#end / WASM_PAGE;
    const needed = Math.ceil(this.#next / WASM_PAGE) - pages;
    const wanted = Math.max(needed, LEAST_GROWTH, pages >> 2);
    const more = Math.min(wanted, MOST_PAGES - pages);
    if (more < needed) throw outOfMemory();
    try {
      this.memory.grow(more);
    } catch (cause) {
      throw outOfMemory(cause);
    }
    this.#look();
  }

  #look(): void {
    const { buffer } = this.memory;
    this.bytes = new Uint8Array(buffer);
    this.view = new DataView(buffer);
    this.words = new Int32Array(buffer);
    this.#end = buffer.byteLength;
  }
}

const outOfMemory = (cause?: unknown): TraplineError =>
  new TraplineError('limit', 'engine core: the program uses more memory than 4 GiB', {
    hint: 'give it less work, or run it on another engine (--engine)',
    cause,
  });
