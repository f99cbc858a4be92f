import { greatest, least, view } from '../base/bytes.ts';
import { resolveFault } from './fault.ts';
import type { MemoryState } from './state.ts';

/** A run of present pages that may be accessed without asking again. */
interface Window {
  generation: number;
  start: bigint;
  end: bigint;
}

/** copy_from_user and copy_to_user: accesses of the kernel with the rights of user code. */
export class UserAccess {
  readonly #state: MemoryState;
  readonly #readable: Window = { generation: -1, start: 0n, end: 0n };
  readonly #writable: Window = { generation: -1, start: 0n, end: 0n };
  readonly #word = new Uint8Array(8);
  readonly #wordView = view(this.#word);

  constructor(state: MemoryState) {
    this.#state = state;
  }

  read(address: bigint, into: Uint8Array): number {
    return this.#each(address, into, 'read');
  }

  write(address: bigint, bytes: Uint8Array): number {
    return this.#each(address, bytes, 'write');
  }

  readU64(address: bigint): bigint | undefined {
    if (this.read(address, this.#word) < 8) return undefined;
    return this.#wordView.getBigUint64(0, true);
  }

  writeU64(address: bigint, value: bigint): boolean {
    this.#wordView.setBigUint64(0, value, true);
    return this.write(address, this.#word) === 8;
  }

  readString(address: bigint, max: number): Uint8Array | undefined {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length < max) {
      // Never past a page end: what follows the NUL may be unreadable.
      const room = 4096 - Number((address + BigInt(length)) & 0xfffn);
      const chunk = new Uint8Array(Math.min(room, max - length));
      if (this.read(address + BigInt(length), chunk) < chunk.length) return undefined;
      const nul = chunk.indexOf(0);
      chunks.push(nul < 0 ? chunk : chunk.subarray(0, nul));
      length += nul < 0 ? chunk.length : nul;
      if (nul >= 0) return concat(chunks, length);
    }
    return undefined;
  }

  #each(address: bigint, bytes: Uint8Array, access: 'read' | 'write'): number {
    const { engine } = this.#state;
    const window = access === 'read' ? this.#readable : this.#writable;
    let done = 0;
    while (done < bytes.length) {
      const at = address + BigInt(done);
      if (!this.#open(window, at, access)) return done;
      const room = window.end - at;
      // The usual case, one page and all of it, makes no new view.
      const fits = room >= BigInt(bytes.length - done);
      const piece =
        fits && done === 0
          ? bytes
          : bytes.subarray(done, fits ? bytes.length : done + Number(room));
      if (access === 'read') engine.peek(at, piece);
      else engine.poke(at, piece);
      done += piece.length;
    }
    return done;
  }

  /** Makes the window contain `at`; false when the access is not allowed. */
  #open(window: Window, at: bigint, access: 'read' | 'write'): boolean {
    const state = this.#state;
    if (window.generation === state.generation && at >= window.start && at < window.end)
      return true;
    if (resolveFault(state, at, access) !== 'resolved') return false;
    const area = state.list.find(at);
    const run = state.pages.present.runAt(at);
    if (area === undefined || run === undefined) return false;
    window.generation = state.generation;
    window.start = greatest(run.start, area.start);
    window.end = least(run.end, area.end);
    return true;
  }
}

const concat = (chunks: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
};
