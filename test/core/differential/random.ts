/** Seeded randomness for cases: xorshift, enough to spread and the same everywhere. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e37_79b9) | 1;
  }

  /** 32 bits. */
  word(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }

  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.word() >>> 24);
  }

  /** 64 bits, often near the values where arithmetic turns. */
  value(): bigint {
    const random = (BigInt(this.word()) << 32n) | BigInt(this.word());
    const small = BigInt(this.below(70)) - 3n;
    const power = (1n << BigInt(this.below(64))) + BigInt(this.below(3)) - 1n;
    const chosen = this.pick([
      random,
      random,
      random & 0xffff_ffffn,
      small,
      power,
      -power,
      0n,
      -1n,
    ]);
    return BigInt.asUintN(64, chosen);
  }
}
