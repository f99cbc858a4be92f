/** Puts instructions one after the other, with labels that may come later. */

/** Where an instruction begins, and what it was generated as. */
export interface Start {
  readonly offset: number;
  readonly kind: string;
}

interface Fixup {
  readonly at: number;
  readonly size: 1 | 4;
  readonly label: number;
}

export class Assembler {
  readonly bytes: number[] = [];
  readonly starts: Start[] = [];
  /** Parts that follow the function's end: its subroutines. */
  readonly later: (() => void)[] = [];
  /** Labels that calls go to: where return probes make sense. */
  readonly functions: number[] = [];
  /** Words the function has pushed and not yet popped, as far as straight-line reading tells. */
  depth = 0;
  readonly #places: number[] = [];
  readonly #fixups: Fixup[] = [];

  /** One instruction. */
  emit(kind: string, ...bytes: readonly number[]): void {
    this.starts.push({ offset: this.bytes.length, kind });
    this.bytes.push(...bytes);
  }

  label(): number {
    return this.#places.push(-1) - 1;
  }

  place(label: number): void {
    this.#places[label] = this.bytes.length;
  }

  /** An instruction that ends in a displacement to a label. */
  relative(kind: string, opcode: readonly number[], label: number, size: 1 | 4): void {
    this.emit(kind, ...opcode, ...Array<number>(size).fill(0));
    this.#fixups.push({ at: this.bytes.length - size, size, label });
  }

  /** Where the called functions begin. Preconditions: finished. */
  functionOffsets(): number[] {
    return this.functions.map((label) => this.#places[label] ?? 0);
  }

  /** The code, or null when a short jump does not reach. */
  finish(): Uint8Array | null {
    // Parts may add parts.
    for (let part = this.later.shift(); part !== undefined; part = this.later.shift()) part();
    const code = Uint8Array.from(this.bytes);
    const words = new DataView(code.buffer);
    for (const { at, size, label } of this.#fixups) {
      const distance = (this.#places[label] ?? 0) - (at + size);
      if (size === 4) words.setInt32(at, distance, true);
      else if (distance < -128 || distance > 127) return null;
      else words.setInt8(at, distance);
    }
    return code;
  }
}

/** Little-endian bytes of a number. */
export const le = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor(value / 2 ** (8 * i)) & 0xff);
