/** Makes new cases of kept ones: the third generator. */
import { fromHex, toHex } from '../../base/bytes.ts';
import type { ProfileName } from '../../uprobes/index.ts';
import type { FuzzCase } from '../case.ts';
import { listingOf, relink } from '../diagnose/listing.ts';
import { PAGE } from '../guest/layout.ts';
import type { Random } from '../random.ts';
import { generateCase } from './case.ts';

type Mutation = (test: FuzzCase, random: Random, other: FuzzCase) => FuzzCase;

const codeOf = ({ code }: FuzzCase): Uint8Array => fromHex(code) ?? new Uint8Array();

/** Somewhere an instruction begins. */
const someStart = (test: FuzzCase, random: Random): number =>
  random.pick(listingOf(codeOf(test), 0n)).offset;

const moveProbe: Mutation = (test, random) => ({
  ...test,
  probes: test.probes.map((probe) => ({ ...probe, site: someStart(test, random) })),
});

const addProbe: Mutation = (test, random) =>
  test.probes.length >= 4
    ? test
    : {
        ...test,
        probes: [...test.probes, { site: someStart(test, random), consumers: [{ kind: 'entry' }] }],
      };

const flipBit: Mutation = (test, random) => {
  const code = codeOf(test);
  const at = random.below(code.length);
  code[at] = (code[at] ?? 0) ^ (1 << random.below(8));
  return { ...test, code: toHex(code) };
};

/** Instructions of another case before a point of this one. */
const splice: Mutation = (test, random, other) => {
  const code = codeOf(test);
  const lines = listingOf(code, 0n);
  const guests = listingOf(codeOf(other), 0n).slice(0, 1 + random.below(4));
  const at = random.below(lines.length);
  const relinked = relink(
    [
      ...lines.slice(0, at),
      // A line's offset says where jumps find it: nobody jumps to these.
      ...guests.map(({ bytes, text, mnemonic }) => ({
        bytes,
        text,
        mnemonic,
        offset: -1000,
        relative: null,
      })),
      ...lines.slice(at),
    ],
    code.length,
  );
  if (relinked === null || relinked.code.length > LONGEST) return test;
  const probes = test.probes.map((probe) => ({ ...probe, site: relinked.moved(probe.site) }));
  return { ...test, code: toHex(relinked.code), probes };
};
const LONGEST = 512;

const otherState: Mutation = (test, _, { regs, seed, at, states, after }) => ({
  ...test,
  regs,
  seed,
  at: at % PAGE,
  ...(states && { states }),
  ...(after && { after }),
});

const otherConsumers: Mutation = (test, _, other) => ({
  ...test,
  probes: test.probes.map((probe, index) => ({
    ...probe,
    consumers:
      probe.site === 0 ? (other.probes[index]?.consumers ?? probe.consumers) : probe.consumers,
  })),
});

const MUTATIONS: readonly Mutation[] = [
  moveProbe,
  moveProbe,
  addProbe,
  flipBit,
  splice,
  splice,
  otherState,
  otherConsumers,
];

/** @param corpus not empty */
export const mutateCase = (
  random: Random,
  profiles: readonly ProfileName[],
  corpus: readonly FuzzCase[],
): FuzzCase => {
  // Far cases need a process of their own, and have their own generator.
  const { far: _, ...kept } = random.pick(corpus);
  let test: FuzzCase = { ...kept, at: kept.at % PAGE, profile: random.pick(profiles) };
  for (let left = 1 + random.below(3); left > 0; left--)
    test = {
      ...random.pick(MUTATIONS)(test, random, generateCase(random, profiles)),
      profile: test.profile,
    };
  return test;
};
