import { describe, expect, it } from 'vitest';
import { Clock } from '../../src/kernel/clock.ts';
import { Random } from '../../src/kernel/random.ts';

describe('the random generator', () => {
  it('is xoshiro128**: the published outputs from state 1, 2, 3, 4', () => {
    const random = new Random([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, () => random.next())).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597,
      4258142804,
    ]);
  });

  it('is seeded through SplitMix64: its published outputs from 1234567', () => {
    const seeded = Random.fromSeed(1234567n);
    const words = [6457827717110365317n, 3203168211198807973n].flatMap((mixed) => [
      Number(mixed & 0xffffffffn),
      Number(mixed >> 32n),
    ]);
    const given = new Random(words.map((word) => word | 0));
    expect(seeded.next()).toBe(given.next());
    expect(seeded.next()).toBe(given.next());
  });

  it('fills bytes with its words, little-endian, the last one cut', () => {
    const bytes = new Uint8Array(6);
    new Random([1, 2, 3, 4]).fill(bytes);
    // 11520 = 0x2d00, then 0.
    expect([...bytes]).toEqual([0x00, 0x2d, 0, 0, 0, 0]);
  });

  it('differs between seeds', () => {
    expect(Random.fromSeed(1n).next()).not.toBe(Random.fromSeed(2n).next());
  });
});

describe('the clock', () => {
  it('is what was executed and skipped, and never goes back', () => {
    let instructions = 0;
    const clock = new Clock(() => instructions, { startNs: 100n, epochNs: 5000n });
    expect(clock.monotonicNs()).toBe(100n);
    expect(clock.realtimeNs()).toBe(5000n);
    instructions = 7;
    expect(clock.monotonicNs()).toBe(107n);
    clock.skipTo(1000n);
    clock.skipTo(500n);
    expect(clock.monotonicNs()).toBe(1000n);
    expect(clock.realtimeNs()).toBe(5900n);
  });

  it('starts in 2026 unless told otherwise', () => {
    const year = 365n * 86_400n;
    // 56 years since 1970, 14 of them leap years (1972 to 2024).
    expect(new Clock(() => 0).realtimeNs()).toBe((56n * year + 14n * 86_400n) * 1_000_000_000n);
  });
});
