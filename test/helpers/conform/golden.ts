/**
 * Reads `insn-exec-KERNEL.txt`, recorded runs each written as the difference from the state they began
 * with, into the form of a table that `trapline conform` takes.
 *
 * ```
 * region NAME ADDRESS SIZE PERM [INITIAL BYTES]
 * case NAME BYTES entry= site= code= alt= errno= how= optimised= [masked=REG,…]
 *  plain|probed|probed_x3 [end=cap0|cap1] [signal=SIGNO,CODE,ADDR,IP,TRAPNO,ERR] [hits=N] [flags=F]
 *         [REG=VALUE …] [k1=VALUE] [ymmN=HEX | xmmN=HEX …] [ADDRESS:HEX …]
 * ```
 * r10 starts as `alt`, the other registers as the line `regs` says; `-` stands for nothing.
 */

type Json = Record<string, unknown>;

const orNull = (text: string): string | null => (text === '-' ? null : text);

const fieldsOf = (words: readonly string[]): Map<string, string> =>
  new Map(
    words
      .filter((word) => word.includes('='))
      .map((word) => {
        const at = word.indexOf('=');
        return [word.slice(0, at), word.slice(at + 1)] as const;
      }),
  );

const signalOf = (text: string): Json => {
  const [signo, code, addr = '-', ip, trapno, err] = text.split(',');
  return {
    signo: Number(signo),
    code: Number(code),
    addr: orNull(addr),
    ip,
    trapno: Number(trapno),
    err: Number(err),
  };
};

/** The line `vectors`: byte i = (7*i+1) mod 256. */
const initialYmm = (n: number): string =>
  Buffer.from(Array.from({ length: 32 }, (_, i) => (7 * (32 * n + i) + 1) & 0xff)).toString('hex');

const INITIAL_K1 = '0x123456789abcdef';

const vectorsOf = (fields: ReadonlyMap<string, string>): Json => {
  const numbers = [0, 1, 2, 3];
  if (fields.has('signal'))
    return { xmm: numbers.map((n) => fields.get(`xmm${n}`) ?? initialYmm(n).slice(0, 32)) };
  return {
    ymm: numbers.map((n) => fields.get(`ymm${n}`) ?? initialYmm(n)),
    k1: fields.get('k1') ?? INITIAL_K1,
  };
};

const stateOf = (
  words: readonly string[],
  regs: Readonly<Record<string, string>>,
  flags: string,
): Json => {
  const fields = fieldsOf(words);
  const changed = Object.keys(regs).map((name) => [name, fields.get(name) ?? regs[name]!] as const);
  const signal = fields.get('signal');
  const hits = fields.get('hits');
  return {
    regs: Object.fromEntries(changed),
    flags: fields.get('flags') ?? flags,
    end: fields.get('end') ?? null,
    ...(signal !== undefined && { signal: signalOf(signal) }),
    ...(hits !== undefined && { hits: Number(hits) }),
    ...vectorsOf(fields),
    mem: words.filter((word) => /^0x[0-9a-f]+:/.test(word)).map((word) => word.split(':')),
  };
};

/** One case, in the form of the table's `cases`. */
export interface CaseJson extends Json {
  readonly name: string;
  readonly bytes: string;
  readonly regs: Readonly<Record<string, string>>;
  readonly errno: string;
  readonly how: string | null;
  readonly optimised: boolean;
}

const caseOf = (words: readonly string[], regs: Readonly<Record<string, string>>): CaseJson => {
  const [name = '', bytes = ''] = words;
  const fields = fieldsOf(words);
  const field = (key: string): string => fields.get(key) ?? '';
  return {
    name,
    bytes,
    entry: field('entry'),
    site: field('site'),
    code: field('code'),
    alt: field('alt'),
    regs: { ...regs, r10: field('alt') },
    masked: field('masked').split(',').filter(Boolean),
    errno: field('errno'),
    how: orNull(field('how')),
    optimised: field('optimised') === 'yes',
    plain: null,
    probed: null,
    probed_x3: null,
  };
};

const regionOf = ([name, addr, size, perm, ...init]: readonly string[]): Json => ({
  name,
  addr,
  size: Number(size),
  perm,
  ...(init.length > 0 && { init: init.join(' ') }),
});

export interface ExecTableJson extends Json {
  readonly cases: readonly CaseJson[];
}

/** A golden as a table. */
export const execTableOf = (text: string): ExecTableJson => {
  const head: Record<string, string> = {};
  let regs: Record<string, string> = {};
  const regions: Json[] = [];
  const cases: CaseJson[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [key = '', ...words] = line.trim().split(' ');
    if (line.startsWith(' ')) {
      const test: Json = cases.at(-1)!;
      test[key] = stateOf(words, cases.at(-1)!.regs, head.flags ?? '');
    } else if (key === 'case') cases.push(caseOf(words, regs));
    else if (key === 'region') regions.push(regionOf(words));
    else if (key === 'regs') regs = Object.fromEntries(fieldsOf(words));
    else head[key] = words.join(' ');
  }
  return { ...head, regions, cases };
};
