const rotl = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/** One step of SplitMix64 (Steele, Lea, Flood 2014): turns any seed into well-mixed words. */
const splitMix64 = (state: bigint): bigint => {
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
};
const GOLDEN_GAMMA = 0x9e3779b97f4a7c15n;

/**
 * xoshiro128** 1.1 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2018), the
 * machine's only source of "randomness": getrandom(2), AT_RANDOM, /dev/urandom.
 */
export class Random {
  #s: Int32Array;

  /** @param state four words, not all zero */
  constructor(state: ArrayLike<number>) {
    this.#s = Int32Array.from(state);
  }

  /** State from one number, as the authors advise: through SplitMix64. */
  static fromSeed(seed: bigint): Random {
    const words = [1n, 2n].flatMap((step) => {
      const mixed = splitMix64(BigInt.asUintN(64, seed + step * GOLDEN_GAMMA));
      return [Number(mixed & 0xffffffffn), Number(mixed >> 32n)];
    });
    return new Random(words.map((word) => word | 0));
  }

  /** Next 32 bits. */
  next(): number {
    const s = this.#s;
    const s1 = s[1]!;
    const result = Math.imul(rotl(Math.imul(s1, 5), 7), 9) >>> 0;
    const mixed2 = s[2]! ^ s[0]!;
    const mixed3 = s[3]! ^ s1;
    s[1] = s1 ^ mixed2;
    s[0]! ^= mixed3;
    s[2] = mixed2 ^ (s1 << 9);
    s[3] = rotl(mixed3, 11);
    return result;
  }

  /** Fills with random bytes: the words of {@link next}, little-endian. */
  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 4) {
      const word = this.next();
      for (let i = 0; i < 4 && at + i < bytes.length; i++) bytes[at + i] = word >>> (8 * i);
    }
  }

  capture(): Int32Array {
    return this.#s.slice();
  }

  restore(state: Int32Array): void {
    this.#s = state.slice();
  }
}
