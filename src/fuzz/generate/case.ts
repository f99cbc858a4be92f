/** Generates whole cases: a function, where it is probed, by whom, and how it begins. */
import { toHex } from '../../base/bytes.ts';
import type { ProfileName } from '../../uprobes/index.ts';
import {
  type CaseConsumer,
  type CaseProbe,
  type FuzzCase,
  REGISTER_NAMES,
  type RegisterName,
} from '../case.ts';
import type { Random } from '../random.ts';
import { type Generated, generateBytes, generateFunction } from './function.ts';

/** Values at which something changes. */
const INTERESTING = [
  '0x0',
  '0x1',
  '0x2',
  '0x27',
  '0x7fffffff',
  '0x80000000',
  '0xffffffff',
  '0x7fffffffffffffff',
  '0x8000000000000000',
  '0xffffffffffffffff',
];

const SETTABLE = REGISTER_NAMES.filter((name) => !['sp', 'bp'].includes(name));

const registers = (random: Random): FuzzCase['regs'] => {
  const regs: Partial<Record<RegisterName | 'flags', string>> = {};
  for (let left = random.below(3); left > 0; left--)
    regs[random.pick(SETTABLE)] = random.pick(INTERESTING);
  // CF PF AF ZF SF OF at random.
  if (random.chance(30)) regs.flags = `0x${(0x202 | (random.word() & 0x8d5)).toString(16)}`;
  return regs;
};

const OPTIMISABLE: ReadonlySet<string> = new Set(['nop5', 'nop10']);

/** Mostly where an instruction begins; each kind of instruction has the same chance. */
const chooseSite = (random: Random, { code, starts }: Generated): number => {
  if (random.chance(2)) return random.below(code.length);
  const optimisable = starts.filter((start) => OPTIMISABLE.has(start.kind));
  if (optimisable.length > 0 && random.chance(25)) return random.pick(optimisable).offset;
  const kinds = [...new Set(starts.map(({ kind }) => kind))];
  const kind = random.pick(kinds);
  return random.pick(starts.filter((start) => start.kind === kind)).offset;
};

const consumer = (random: Random): CaseConsumer => ({
  kind: random.chance(75) ? 'entry' : random.pick(['return', 'session'] as const),
});

/** Return probes go where functions begin. */
const probe = (random: Random, generated: Generated): CaseProbe => {
  const first = consumer(random);
  const consumers = random.chance(10) ? [first, consumer(random)] : [first];
  const returns = consumers.some(({ kind }) => kind !== 'entry');
  const site = returns ? random.pick(generated.functions) : chooseSite(random, generated);
  return { site, consumers };
};

const probes = (random: Random, generated: Generated): CaseProbe[] => {
  const found: CaseProbe[] = [];
  const count = random.chance(85) ? 1 : 2 + random.below(2);
  while (found.length < count) found.push(probe(random, generated));
  return found;
};

const PAGE_OFFSETS = [0x100, 0x100, 0x100, 0xff8, 0xff0, 0xfe0];

/** A call that may miss its trampoline: the optimisable nop at the start is what matters. */
const farCase = (random: Random, profile: ProfileName): FuzzCase => {
  const nop = profile === 'k7.3' ? '662e0f1f840000000000' : '0f1f440000';
  return {
    v: 1,
    profile,
    at: 0x1100 + random.below(0xe00),
    code: `${nop}${toHex(generateBytes(random).code.slice(-4))}c3`,
    probes: [{ site: 0, consumers: [{ kind: 'entry' }] }],
    calls: 3,
    regs: registers(random),
    seed: random.below(16),
    far: true,
  };
};

/** @param profiles from which the case's kernel is drawn */
export const generateCase = (random: Random, profiles: readonly ProfileName[]): FuzzCase => {
  const profile = random.pick(profiles);
  if (random.below(300) === 0) return farCase(random, profile);
  const at = random.pick(PAGE_OFFSETS) + random.below(8);
  const generated = random.chance(8) ? generateBytes(random) : generateFunction(random, at);
  return {
    v: 1,
    profile,
    at,
    code: toHex(generated.code),
    probes: probes(random, generated),
    calls: random.chance(60) ? 2 : 1 + random.below(3),
    regs: registers(random),
    seed: random.below(16),
    ...(random.chance(3) && { states: true }),
    ...(random.chance(6) && { after: true }),
  };
};
