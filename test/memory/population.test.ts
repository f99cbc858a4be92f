import { describe, expect, it } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';

const RW = Prot.Read | Prot.Write;

/** Touches every page of [start, end) in steps and says how many regions the engine got. */
const touch = (size: bigint, pages: readonly bigint[]) => {
  const engine = new FakeEngine();
  const space = new AddressSpace(engine);
  const at = space.map({ address: 0x10000000n, placement: 'only', size, prot: RW }) as bigint;
  for (const page of pages) expect(space.resolve(at + page * 4096n, 'write')).toBe('resolved');
  return { regions: engine.mapCalls, populated: space.counters.pagesPopulated };
};

const upTo = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i));

describe('pages come in runs', () => {
  it('of 64 KiB for a lonely touch', () => {
    expect(touch(1n << 30n, [1000n])).toEqual({ regions: 1, populated: 16 });
  });

  it('that grow as touches follow one another, upwards and downwards', () => {
    // 16 + 16 + 32 + 64 ... + 1024 pages: doubling up to 4 MiB a run.
    expect(touch(64n << 20n, upTo(2048))).toEqual({ regions: 8, populated: 2048 });
    expect(
      touch(
        64n << 20n,
        upTo(2048).map((i) => 16383n - i),
      ).regions,
    ).toBe(8);
  });

  it('no longer than their vma', () => {
    expect(touch(3n * 4096n, [1n])).toEqual({ regions: 1, populated: 3 });
  });

  it('none for what is never touched', () => {
    expect(touch(1n << 31n, [])).toEqual({ regions: 0, populated: 0 });
  });
});
