/** Session links and the comings and goings of consumers: the kernel's self-test group `uprobe_multi`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { MultiHandlers, MultiLink } from '../../../src/consumers/multi/link.ts';
import { Reg } from '../../../src/cpu/engine.ts';
import type { Profile } from '../../../src/uprobes/index.ts';
import { FUNCTIONS, TEXT_BYTES } from '../../consumers/multi/requests.ts';
import { type Rig, TEXT } from '../../uprobes/rig.ts';
import { link } from '../links.ts';
import type { Rows } from '../row.ts';

const SELF_TEST = 'self-test uprobe_multi';
const KERNEL = 'Linux 6.18.44';

const hasSessions = ({ sessions }: Profile): boolean => sessions;

/** nop; nop; ret: the second nop is "inside the function". */
const F = 0x1000n;
const INSIDE = F + 1n;
const CALL = TEXT + F;

const RECORDED = readFileSync(
  join(import.meta.dirname, '../../consumers/multi/sessions.k6.18.txt'),
  'utf8',
)
  .trimEnd()
  .split('\n');

/** The four consumers of C26, by number: entry, return, session that answers 0, one that answers 1. */
const consumer = (index: number, counts: number[]): MultiHandlers => {
  const count = (): undefined => {
    counts[index] = (counts[index] ?? 0) + 1;
    return undefined;
  };
  const kinds: readonly MultiHandlers[] = [
    { entry: count },
    { return: count },
    { entry: count, return: count },
    {
      entry: () => {
        count();
        return 1;
      },
      return: count,
    },
  ];
  return kinds[index] ?? {};
};

/** One line of the recording, made here: before and after are bit sets of consumers. */
const comingsAndGoings = (rig: Rig, before: number, after: number): string => {
  const counts = [0, 0, 0, 0];
  const links = new Map<number, MultiLink>();
  const numbers = [0, 1, 2, 3];
  const isIn = (set: number, index: number): boolean => ((set >> index) & 1) === 1;
  const add = (index: number): unknown => links.set(index, link(rig, [F], consumer(index, counts)));
  const take = (index: number): void => {
    links.get(index)?.detach();
    links.delete(index);
  };
  for (const index of numbers) if (isIn(before, index)) add(index);
  const inside = link(rig, [INSIDE], {
    entry: () => {
      for (const index of numbers) if (links.has(index) && !isIn(after, index)) take(index);
      for (const index of numbers) if (!links.has(index) && isIn(after, index)) add(index);
      return undefined;
    },
  });
  expect(rig.call(CALL)).toEqual({ kind: 'returned' });
  inside.detach();
  for (const index of [...links.keys()]) take(index);
  return `${before} ${after}: ${counts.join(' ')}`;
};

/** Counts entries and returns of a session with a fixed answer. */
const session = (rig: Rig, offsets: readonly bigint[], answer: (offset: bigint) => number) => {
  const counts = new Map<bigint, number>();
  const count = (offset: bigint): void => {
    counts.set(offset, (counts.get(offset) ?? 0) + 1);
  };
  link(rig, offsets, {
    entry: (_, { offset }) => {
      count(offset);
      return answer(offset);
    },
    return: (_, { offset }) => {
      count(offset);
      return undefined;
    },
  });
  return counts;
};

const callAll = (rig: Rig): void => {
  for (const offset of FUNCTIONS) expect(rig.call(TEXT + offset)).toEqual({ kind: 'returned' });
};

/** push %rbx; dec %edi; jz +5; call itself; pop %rbx; ret */
const RECURSIVE = { '0x401000': '53 ff cf 74 05 e8 f6 ff ff ff 5b c3' };

export default [
  {
    id: 'C26',
    what: 'four consumers come and go inside the function: counts of all 256 pairs of sets',
    from: `${SELF_TEST}; all 256 recorded on ${KERNEL}`,
    applies: hasSessions,
    run: (trial) => {
      const rig = trial.rig(TEXT_BYTES);
      for (const line of RECORDED) {
        const [before = 0, after = 0] = line.split(/[ :]/).map(Number);
        expect(comingsAndGoings(rig, before, after)).toBe(line);
      }
    },
  },
  {
    id: 'C29',
    what: 'two sessions on three functions, the entry handlers answer 0 for the second one only',
    from: SELF_TEST,
    applies: hasSessions,
    run: (trial) => {
      const rig = trial.rig(TEXT_BYTES);
      const [, second] = FUNCTIONS;
      const answer = (offset: bigint): number => (offset === second ? 0 : 1);
      const counts = [session(rig, FUNCTIONS, answer), session(rig, FUNCTIONS, answer)];
      callAll(rig);
      const sums = FUNCTIONS.map((offset) =>
        counts.reduce((sum, one) => sum + (one.get(offset) ?? 0), 0),
      );
      expect(sums).toEqual([2, 4, 2]);
    },
  },
  {
    id: 'C30',
    what: 'three sessions on one function that answer 1, 0 and 1',
    from: SELF_TEST,
    applies: hasSessions,
    run: (trial) => {
      const rig = trial.rig(TEXT_BYTES);
      const counts = [1, 0, 1].map((answer) => session(rig, [F], () => answer));
      rig.call(CALL);
      expect(counts.map((one) => one.get(F))).toEqual([1, 2, 1]);
    },
  },
  {
    id: 'C31',
    what: 'session cookies: the entry handler writes 1, 2, 3, the return handler reads them',
    from: SELF_TEST,
    applies: hasSessions,
    run: (trial) => {
      const rig = trial.rig(TEXT_BYTES);
      const read: (bigint | undefined)[] = [];
      link(rig, FUNCTIONS, {
        entry: ({ cookie }, { offset }) => {
          if (cookie !== null) cookie.value = BigInt(FUNCTIONS.indexOf(offset) + 1);
          return 0;
        },
        return: ({ cookie }) => {
          read.push(cookie?.value);
          return undefined;
        },
      });
      callAll(rig);
      expect(read).toEqual([1n, 2n, 3n]);
    },
  },
  {
    id: 'C32',
    what: 'recursion six deep: every second call wants its return, with its own cookie',
    from: SELF_TEST,
    applies: hasSessions,
    run: (trial) => {
      const rig = trial.rig(RECURSIVE);
      let entries = 0;
      const read: (bigint | undefined)[] = [];
      link(rig, [F], {
        entry: ({ cookie }) => {
          entries++;
          if (cookie !== null) cookie.value = BigInt(entries);
          return (entries - 1) % 2;
        },
        return: ({ cookie }) => {
          read.push(cookie?.value);
          return undefined;
        },
      });
      expect(rig.call(CALL, { [Reg.Rdi]: 6n })).toEqual({ kind: 'returned' });
      expect(entries).toBe(6);
      expect(read).toEqual([5n, 3n, 1n]);
    },
  },
] satisfies Rows;
