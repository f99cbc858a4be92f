/** One fuzzing case: a small JSON value that holds everything a verdict depends on. */
import type { ProfileName } from '../uprobes/index.ts';

/** Registers a case may set, by the kernel's names. */
export const REGISTER_NAMES = [
  'ax',
  'cx',
  'dx',
  'bx',
  'sp',
  'bp',
  'si',
  'di',
  'r8',
  'r9',
  'r10',
  'r11',
  'r12',
  'r13',
  'r14',
  'r15',
] as const;
export type RegisterName = (typeof REGISTER_NAMES)[number];

/** What a handler does at its `hit`-th call in a run of the function (the first is 0). */
export interface Act {
  readonly hit: number;
  readonly on: 'entry' | 'return';
  /**
   * `ip`: `value` is an offset into the code; `sp`: it is added; other registers: it is put there. `signal`: that one
   * is sent to the task.
   */
  readonly set: RegisterName | 'ip' | 'flags' | 'signal';
  readonly value: string;
}

export interface CaseConsumer {
  readonly kind: 'entry' | 'return' | 'session';
  readonly acts?: readonly Act[];
}

export interface CaseProbe {
  /** Offset of the site in the code. */
  readonly site: number;
  /** In the order they are attached. */
  readonly consumers: readonly CaseConsumer[];
  /** Attached before this call of the function; default 0. */
  readonly from?: number;
  /** Detached before this call; default: after the last. */
  readonly until?: number;
}

export interface FuzzCase {
  readonly v: 1;
  readonly profile: ProfileName;
  /** Offset in its page of the code's first byte. */
  readonly at: number;
  /** Hex; the function begins at its first byte. */
  readonly code: string;
  readonly probes: readonly CaseProbe[];
  /** How often the function is called; registers and memory are set afresh each time. */
  readonly calls: number;
  /** Hex, where they differ from the usual ones. */
  readonly regs: Readonly<Partial<Record<RegisterName | 'flags', string>>>;
  /** Of the memory's contents. */
  readonly seed: number;
  /** The text is mapped a second time, where the first mapping's trampoline is just out of reach. */
  readonly far?: true;
  /** The function is also called in each state that the text is in while it is changed. */
  readonly states?: true;
  /** The function is called once more when all probes are gone. */
  readonly after?: true;
}

/** Some consumer has a return handler. */
export const returns = ({ probes }: Pick<FuzzCase, 'probes'>): boolean =>
  probes.some(({ consumers }) => consumers.some(({ kind }) => kind !== 'entry'));

/** What the handlers do besides looking. */
export const actsOf = ({ probes }: Pick<FuzzCase, 'probes'>): readonly Act[] =>
  probes.flatMap(({ consumers }) => consumers.flatMap(({ acts }) => acts ?? []));

/** Probes come and go between the calls. */
export const hasMoments = ({ probes }: Pick<FuzzCase, 'probes'>): boolean =>
  probes.some(({ from, until }) => from !== undefined || until !== undefined);

const fail = (what: string): never => {
  throw new SyntaxError(`not a fuzzing case: ${what}`);
};

const isCount = (value: unknown, limit: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < limit;

const checkAct = (act: Act): void => {
  if (!isCount(act.hit, 1000) || (act.on !== 'entry' && act.on !== 'return')) fail('act');
  if (!/^-?0x[0-9a-f]{1,16}$/.test(act.value)) fail(`act value ${act.value}`);
};

const checkProbe = ({ site, consumers }: CaseProbe): void => {
  if (!isCount(site, 4096) || !Array.isArray(consumers)) fail('probe');
  for (const { kind, acts } of consumers as readonly CaseConsumer[]) {
    if (!['entry', 'return', 'session'].includes(kind)) fail(`consumer ${kind}`);
    for (const act of acts ?? []) checkAct(act);
  }
};

/**
 * Checks a value that came from a file.
 * @throws SyntaxError that says what is wrong
 */
export const checkCase = (value: unknown): FuzzCase => {
  if (typeof value !== 'object' || value === null) return fail('no object');
  const test = value as FuzzCase;
  if (test.v !== 1) return fail(`version ${test.v}`);
  if (typeof test.code !== 'string' || !/^([0-9a-f]{2}){1,2048}$/.test(test.code))
    return fail('code');
  if (!isCount(test.at, 8192) || !isCount(test.calls, 100) || !Number.isInteger(test.seed))
    return fail('at, calls or seed');
  if (!Array.isArray(test.probes) || typeof test.regs !== 'object') return fail('probes or regs');
  for (const probe of test.probes) checkProbe(probe);
  for (const text of Object.values(test.regs))
    if (!/^0x[0-9a-f]{1,16}$/.test(text)) fail(`register value ${text}`);
  return test;
};
