/** Bytes on their way from a writer to a reader, in the pieces they came in. */
export class ByteQueue {
  #pieces: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Keeps a copy. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes.slice());
    this.#length += bytes.length;
  }

  /**
   * Moves bytes into `into`; how many.
   * @param onePiece stop at the end of the first piece (a terminal gives one line a read)
   */
  take(into: Uint8Array, onePiece = false): number {
    let done = 0;
    while (done < into.length) {
      const piece = this.#pieces[0];
      if (piece === undefined) break;
      const part = piece.subarray(0, into.length - done);
      into.set(part, done);
      done += part.length;
      if (part.length === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(part.length);
      if (onePiece) break;
    }
    this.#length -= done;
    return done;
  }

  /** Bytes that {@link take} would give at most. */
  next(onePiece = false): number {
    return onePiece ? (this.#pieces[0]?.length ?? 0) : this.#length;
  }

  capture(): readonly Uint8Array[] {
    return [...this.#pieces];
  }

  restore(pieces: readonly Uint8Array[]): void {
    this.#pieces = [...pieces];
    this.#length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }
}
