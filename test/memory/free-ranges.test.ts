import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Prot } from '../../src/cpu/engine.ts';
import { AddressSpace } from '../../src/memory/address-space.ts';
import type { Area } from '../../src/memory/area.ts';
import { highestFree } from '../../src/memory/free-ranges.ts';
import { VmaList } from '../../src/memory/vma-list.ts';
import { FakeEngine } from '../helpers/fake-engine.ts';

const BASE = 0x10000000n;
const at = (page: number): bigint => BASE + BigInt(page) * 4096n;

const mapPages = (space: AddressSpace, page: number, count: number, growsDown = false): void => {
  const request = { address: at(page), size: BigInt(count) * 4096n, growsDown };
  space.map({ ...request, placement: 'only', prot: Prot.Read });
};

const mapping = fc.record({ page: fc.nat(150), count: fc.integer({ min: 1, max: 20 }) });

describe('free ranges', () => {
  it('are the lowest and highest that a page-by-page search finds', () => {
    fc.assert(
      fc.property(
        fc.array(mapping, { maxLength: 12 }),
        fc.nat(170),
        fc.nat(170),
        fc.integer({ min: 1, max: 30 }),
        (mappings, one, two, count) => {
          const space = new AddressSpace(new FakeEngine());
          for (const { page, count } of mappings) mapPages(space, page, count);
          const [low, high] = [Math.min(one, two), Math.max(one, two)];
          const pages = Array.from({ length: high - low }, (_, i) => low + i);
          const free = new Set(pages.filter((page) => space.find(at(page)) === undefined));
          const starts = pages.filter((start) =>
            Array.from({ length: count }, (_, i) => start + i).every((page) => free.has(page)),
          );
          const size = BigInt(count) * 4096n;
          const address = (page: number | undefined) => (page === undefined ? undefined : at(page));
          expect(space.findFreeAbove(size, at(low), at(high))).toBe(address(starts[0]));
          expect(space.findFreeBelow(size, at(low), at(high))).toBe(address(starts.at(-1)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are found alike whatever was searched, mapped and unmapped before', () => {
    const change = fc.record({
      unmap: fc.boolean(),
      page: fc.nat(150),
      count: fc.integer({ min: 1, max: 8 }),
      growsDown: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const space = new AddressSpace(new FakeEngine());
        const [low, high] = [at(0), at(150)];
        for (const { unmap, page, count, growsDown } of changes) {
          const size = BigInt(count) * 4096n;
          const found = space.findFreeBelow(size, low, high);
          const fresh = new VmaList();
          fresh.replaceAll(space.vmas() as readonly Area[]);
          expect(found).toBe(highestFree(fresh, size, low, high));
          if (unmap) space.unmap(at(page), size);
          else if (found !== undefined)
            mapPages(space, Number((found - BASE) / 4096n), count, growsDown);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are found in one step once the mappings above them were searched', () => {
    const list = new VmaList();
    const space = new AddressSpace(new FakeEngine());
    for (let i = 0; i < 100; i++) mapPages(space, 1000 - i, 1, i % 2 === 1);
    list.replaceAll(space.vmas() as readonly Area[]);
    const steps = vi.spyOn(list, 'before');
    const found = highestFree(list, 4096n, at(0), at(1001));
    expect(steps.mock.calls.length).toBe(100);
    expect(highestFree(list, 4096n, at(0), at(1001))).toBe(found);
    expect(steps.mock.calls.length).toBe(101);
  });

  /** Both seen on Linux 6.18: mmap of one page with a MAP_GROWSDOWN page at the top of the area. */
  it.each([
    ['a gap below it pushes everything below its guard', 998, 1000 - 256 - 1],
    ['a mapping right below it makes the guard void', 999, 998],
  ])('respect memory that grows down: %s', (_what, neighbour, expected) => {
    const space = new AddressSpace(new FakeEngine());
    mapPages(space, 1000, 1, true);
    mapPages(space, neighbour, 1);
    expect(space.findFreeBelow(4096n, at(0), at(1001))).toBe(at(expected));
  });

  it('above start behind memory that grows down when its guard is in the way', () => {
    const space = new AddressSpace(new FakeEngine());
    mapPages(space, 1000, 1, true);
    expect(space.findFreeAbove(4096n, at(743), at(2000))).toBe(at(743));
    expect(space.findFreeAbove(4096n, at(744), at(2000))).toBe(at(1001));
  });
});
