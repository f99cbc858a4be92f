/** Multi links: the kernel's self-test group `uprobe_multi`. */
import { expect } from 'vitest';
import { functionName, functionOffset, manyFunctions } from '../../../src/bench/many.ts';
import { attachMulti, MultiLink } from '../../../src/consumers/multi/link.ts';
import { Prot } from '../../../src/cpu/engine.ts';
import { Machine, MemoryTree, type MultiOptions, type MultiTarget } from '../../../src/index.ts';
import { uprobesBehind } from '../../../src/machine/machine.ts';
import type { Profile } from '../../../src/uprobes/index.ts';
import {
  DATA,
  FUNCTIONS,
  GOLDEN,
  REQUESTS,
  S1,
  surroundings,
  TEXT_BYTES,
} from '../../consumers/multi/requests.ts';
import { TEXT } from '../../uprobes/rig.ts';
import type { Row, Rows, Trial } from '../row.ts';

const SELF_TEST = 'self-test uprobe_multi';
const KERNEL = 'Linux 6.18.44';

/** A program of a few functions, each called once. */
const machineOf = (trial: Trial, count: number): Machine => {
  const tree = new MemoryTree({ many: { bytes: manyFunctions(count), mode: 0o755 } });
  const machine = trial.uses(
    Machine.create({
      engine: trial.engine,
      profile: trial.profile.name,
      program: { path: '/many', tree, file: 'many' },
    }),
  );
  trial.prepare(uprobesBehind(machine));
  return machine;
};

/** Two entry links and two return links see each of three functions, with the right address. */
const seesThree = async (
  trial: Trial,
  targetOf: (names: readonly string[], offsets: readonly bigint[]) => MultiTarget,
  options: MultiOptions,
): Promise<void> => {
  const numbers = [0, 1, 2];
  const offsets = numbers.map((i) => functionOffset(3, i));
  const target = targetOf(numbers.map(functionName), offsets);
  const machine = machineOf(trial, 3);
  const seen: string[] = [];
  const note =
    (kind: string) =>
    ({ site, task }: { readonly site: bigint; readonly task: { readonly tgid: number } }) => {
      expect(task.tgid).toBe(machine.pid);
      seen.push(`${kind} ${site - 0x400000n}`);
      return undefined;
    };
  for (let i = 0; i < 2; i++) {
    machine.uprobeMulti(target, { entry: note('entry') }, options);
    machine.uprobeMulti(target, { return: note('return') }, options);
  }
  expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
  // Links on one place run newest first, entries before the return.
  const expected = offsets.flatMap((offset) =>
    ['entry', 'entry', 'return', 'return'].map((kind) => `${kind} ${offset}`),
  );
  expect(seen).toEqual(expected);
};

/** A request of the golden, refused, and nothing left of it. */
const refused = (trial: Trial, name: string): void => {
  const rig = trial.rig(TEXT_BYTES);
  rig.map(DATA, Prot.Read | Prot.Write);
  const request = REQUESTS[name];
  if (request === undefined) throw new Error(`no request ${name}`);
  const entry = (): undefined => undefined;
  const made = attachMulti(rig.uprobes, surroundings(rig), request, { entry });
  expect(made instanceof MultiLink ? 'ok' : made.errno).toBe(GOLDEN.get(name));
  for (const offset of FUNCTIONS) expect(rig.bytes(TEXT + offset, 1)).toBe('90');
  expect(rig.bytes(DATA + S1, 4)).toBe('00000000');
};

const C23 = [
  ...['cnt 2^31-1', 'cnt 0', 'offset -1', 'offsets null', 'offsets 1', 'path null', 'path 1'],
  ...['path /', 'cookies 1', 'ref_ctr_offsets 1', 'flags bit 31', 'pid -2'],
];

const MANY = 50_000;
/** The number of sites is the point, not the kernel. */
const newest = ({ name }: Profile): boolean => name === 'k7.3';

const rows: readonly Row[] = [
  {
    id: 'C20',
    what: 'two entry and two return links on three functions by pattern, for one process',
    from: SELF_TEST,
    run: async (trial) => {
      await seesThree(trial, () => ({ pattern: 'uprobe_multi_func_*' }), { pid: 1000 });
    },
  },
  {
    id: 'C21',
    what: 'C20 by `*`, by `?`, by names and by offsets, for all processes',
    from: SELF_TEST,
    run: async (trial) => {
      await seesThree(trial, () => ({ pattern: 'uprobe_multi_func_*' }), {});
      await seesThree(trial, () => ({ pattern: 'uprobe_multi_func_?' }), {});
      await seesThree(trial, (symbols) => ({ symbols }), {});
      await seesThree(trial, (_, offsets) => ({ offsets }), {});
    },
  },
  {
    id: 'C23',
    what: 'twelve bad requests: each errno, and nothing left behind',
    from: `${SELF_TEST}; ${KERNEL}`,
    run: (trial) => {
      for (const name of C23) refused(trial, name);
    },
  },
  {
    id: 'C24',
    what: 'the fourth of four functions begins with int3: refused, no breakpoint in the other three',
    from: `${SELF_TEST}; ${KERNEL}`,
    run: (trial) => refused(trial, 'C24: three functions and an int3'),
  },
  {
    id: 'C25',
    what: 'one function with two reference counters: refused, counters back to 0',
    from: `${SELF_TEST}; ${KERNEL}`,
    run: (trial) => refused(trial, 'C25: f2 with two counters'),
  },
  {
    id: 'C33',
    what: '50,000 functions in one link by pattern, each hit once',
    from: SELF_TEST,
    applies: newest,
    run: async (trial) => {
      const machine = machineOf(trial, MANY);
      let hits = 0;
      const entry = (): undefined => {
        hits++;
        return undefined;
      };
      const made = machine.uprobeMulti({ pattern: 'uprobe_multi_func_*' }, { entry });
      expect(made.sites).toHaveLength(MANY);
      expect(await machine.run()).toEqual({ kind: 'exit', status: 0 });
      expect(hits).toBe(MANY);
      made.close();
    },
  },
];

export default [
  ...rows,
  {
    id: 'C22',
    what: 'C21 for a child process, and for one whose thread calls',
    later: 'fork, threads',
  },
  { id: 'C27', what: 'one link for each of three children', later: 'fork' },
  { id: 'C28', what: 'C27 with children that share the address space', later: 'clone' },
] satisfies Rows;
