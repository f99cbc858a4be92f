import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IntervalSet } from '../../src/base/interval-set.ts';

const range = fc
  .tuple(fc.nat(40), fc.nat(40))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const steps = fc.array(fc.tuple(fc.boolean(), range), { maxLength: 30 });

it('is a set of numbers', () => {
  fc.assert(
    fc.property(steps, range, (changes, [from, to]) => {
      const set = new IntervalSet();
      const model = new Set<number>();
      for (const [add, [start, end]] of changes) {
        if (add) set.add(BigInt(start), BigInt(end));
        else set.remove(BigInt(start), BigInt(end));
        for (let i = start; i < end; i++) add ? model.add(i) : model.delete(i);
      }
      const inside = Array.from({ length: to - from }, (_, i) => from + i);
      expect(members(set.within(BigInt(from), BigInt(to)))).toEqual(
        inside.filter((i) => model.has(i)),
      );
      expect(members(set.gapsWithin(BigInt(from), BigInt(to)))).toEqual(
        inside.filter((i) => !model.has(i)),
      );
      for (let i = 0; i < 41; i++) expect(set.has(BigInt(i))).toBe(model.has(i));
      // As few ranges as possible: none touches the next.
      set.runs().forEach((run, i, runs) => {
        expect(run.start < run.end && run.start > (runs[i - 1]?.end ?? -1n)).toBe(true);
      });
    }),
  );
});

const members = (runs: readonly { start: bigint; end: bigint }[]): number[] =>
  runs.flatMap(({ start, end }) =>
    Array.from({ length: Number(end - start) }, (_, i) => Number(start) + i),
  );
