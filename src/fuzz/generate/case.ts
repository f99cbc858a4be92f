/** Generates whole cases: a function, where it is probed, by whom, and how it begins. */
import { toHex } from '../../base/bytes.ts';
import { findProfile, type ProfileName } from '../../uprobes/index.ts';
import {
  type Act,
  type CaseConsumer,
  type CaseProbe,
  type FuzzCase,
  REGISTER_NAMES,
  type RegisterName,
} from '../case.ts';
import type { Random } from '../random.ts';
import type { Start } from './assembler.ts';
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

/** Before 6.18 the instruction ran all the same. */
const mayMoveIp = (profile: ProfileName): boolean =>
  findProfile(profile)?.skipInsnWhenIpChanged === true;

const act = (random: Random, on: Act['on'], { profile, starts }: Place): Act => {
  const hit = random.below(3);
  const what = random.below(20);
  if (what === 0) return { hit, on, set: 'signal', value: random.pick(['0xa', '0xc']) };
  if (what < 3 && on === 'entry' && mayMoveIp(profile))
    return { hit, on, set: 'ip', value: `0x${random.pick(starts).offset.toString(16)}` };
  if (what < 5) return { hit, on, set: 'sp', value: random.pick(['-0x8', '0x8', '-0x100']) };
  if (what < 7) return { hit, on, set: 'flags', value: random.pick(['0x202', '0xad7', '0x246']) };
  return { hit, on, set: random.pick(SETTABLE), value: random.pick(INTERESTING) };
};

interface Place {
  readonly profile: ProfileName;
  readonly starts: readonly Start[];
}

const consumer = (random: Random, place: Place): CaseConsumer => {
  const kind = random.chance(75) ? 'entry' : random.pick(['return', 'session'] as const);
  if (!random.chance(12)) return { kind };
  const on = kind === 'session' ? random.pick(['entry', 'return'] as const) : kind;
  return { kind, acts: [act(random, on, place)] };
};

/** Return probes go where functions begin. */
const probe = (random: Random, generated: Generated, profile: ProfileName): CaseProbe => {
  const place = { profile, starts: generated.starts };
  const first = consumer(random, place);
  const consumers = random.chance(10) ? [first, consumer(random, place)] : [first];
  const returns = consumers.some(({ kind }) => kind !== 'entry');
  const site = returns ? random.pick(generated.functions) : chooseSite(random, generated);
  return { site, consumers };
};

const probes = (random: Random, generated: Generated, profile: ProfileName): CaseProbe[] => {
  const found: CaseProbe[] = [];
  const count = random.chance(85) ? 1 : 2 + random.below(2);
  while (found.length < count) found.push(probe(random, generated, profile));
  return found;
};

const PAGE_OFFSETS = [0x100, 0x100, 0x100, 0xff8, 0xff0, 0xfe0];

/** Some come late or go early. */
const withMoment = (random: Random, one: CaseProbe): CaseProbe => {
  if (!random.chance(4) || one.consumers.some(({ acts }) => acts !== undefined)) return one;
  return random.chance(50) ? { ...one, from: 1 } : { ...one, until: 1 };
};

/** A call that may miss its trampoline: the optimisable nop at the start is what matters. */
const farCase = (random: Random, profile: ProfileName): FuzzCase => {
  const nop = findProfile(profile)?.optimise === 'nop10' ? '662e0f1f840000000000' : '0f1f440000';
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
    probes: probes(random, generated, profile).map((one) => withMoment(random, one)),
    calls: random.chance(60) ? 2 : 1 + random.below(3),
    regs: registers(random),
    seed: random.below(16),
    ...(random.chance(3) && { states: true }),
    ...(random.chance(6) && { after: true }),
  };
};
