/** Comparisons, into the condition bits or RFLAGS. */
import { readFlags, writeFlags } from '../flags-word.ts';
import { Flag } from '../float/format.ts';
import { type ExtendedNumber, type ExtendedResult, exact, takeApart } from './extended.ts';
import { type Fpu, Status } from './fpu.ts';
import {
  FLOATS,
  INTEGERS,
  ith,
  none,
  register,
  SOURCES,
  type X87Action,
  type X87Input,
  type X87Table,
} from './instruction.ts';
import { order } from './operations.ts';

const table: X87Table = {};

const CODES: Readonly<Record<string, number>> = { '-1': Status.c0, '0': Status.c3, '1': 0 };
const UNORDERED = Status.c0 | Status.c2 | Status.c3;

interface Compared {
  readonly found: number | undefined;
  readonly flags: number;
}

const compared = (x: ExtendedNumber, y: ExtendedNumber, quietSignals: boolean): Compared => {
  const found = order(x, y);
  if (found !== undefined) return { found, flags: x.denormal || y.denormal ? Flag.denormal : 0 };
  const signals = [x, y].some(({ kind }) => kind === 'signalling' || kind === 'unsupported');
  return { found, flags: quietSignals || signals ? Flag.invalid : 0 };
};

type Source = (fpu: Fpu, input: X87Input) => ExtendedResult | null;

/** @param tell takes the order to the condition bits or to RFLAGS */
const comparing =
  (
    source: Source,
    quietSignals: boolean,
    pops: number,
    tell: (fpu: Fpu, found: number | undefined) => void,
  ): X87Action =>
  (fpu, input) => {
    const other = source(fpu, input);
    let done: boolean;
    let found: number | undefined;
    if (other === null || fpu.isEmpty(0)) done = fpu.underflow();
    else {
      const result = compared(fpu.number(0), takeApart(other.bits), quietSignals);
      found = result.found;
      done = fpu.note(result.flags | other.flags);
    }
    // Also where the exception is not masked.
    tell(fpu, found);
    if (done) for (let i = 0; i < pops; i++) fpu.pop();
    return none;
  };

const toConditions = (fpu: Fpu, found: number | undefined): void =>
  fpu.conditions(found === undefined ? UNORDERED : CODES[found]!);

/** FCOMI: ZF PF CF as for COMISS, the others cleared. */
const toFlags = (fpu: Fpu, found: number | undefined): void => {
  const bits = found === undefined ? 0x45 : found === 0 ? 0x40 : found < 0 ? 1 : 0;
  writeFlags(fpu.frames, (readFlags(fpu.frames) & ~0x8d5) | bits);
};

const firstOf: Source = (fpu) => register(() => 1)(fpu, { i: 1, memory: 0n });
const COMPARISONS: readonly (readonly [
  names: readonly string[],
  quietSignals: boolean,
  pops: number,
])[] = [
  [['Fcom_st0_sti', 'Fcom_st0_sti_DCD0'], true, 0],
  [['Fcomp_st0_sti', 'Fcomp_st0_sti_DCD8', 'Fcomp_st0_sti_DED0'], true, 1],
  [['Fucom_st0_sti'], false, 0],
  [['Fucomp_st0_sti'], false, 1],
];
for (const [names, quietSignals, pops] of COMPARISONS)
  for (const name of names)
    table[name] = { run: comparing(register(ith), quietSignals, pops, toConditions) };
table.Fcompp = { run: comparing(firstOf, true, 2, toConditions) };
table.Fucompp = { run: comparing(firstOf, false, 2, toConditions) };
table.Fcomi_st0_sti = { run: comparing(register(ith), true, 0, toFlags) };
table.Fcomip_st0_sti = { run: comparing(register(ith), true, 1, toFlags) };
table.Fucomi_st0_sti = { run: comparing(register(ith), false, 0, toFlags) };
table.Fucomip_st0_sti = { run: comparing(register(ith), false, 1, toFlags) };
table.Ftst = { run: comparing(() => exact(0n), true, 0, toConditions) };
for (const [prefix, kinds] of [
  ['Fcom', FLOATS],
  ['Ficom', INTEGERS],
] as const)
  for (const kind of kinds)
    for (const pops of [0, 1])
      table[`${prefix}${pops === 1 ? 'p' : ''}_${kind}`] = {
        run: comparing((_fpu, { memory }) => SOURCES[kind]!(memory), true, pops, toConditions),
        memory: 'in',
      };

export const COMPARE_INSTRUCTIONS: Readonly<X87Table> = table;
